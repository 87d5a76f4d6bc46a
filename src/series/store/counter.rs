//! [`Counter`], what counts by itself.

use crate::segment::load::supplier::TagLabel;
use crate::series::form::date::Date;
use crate::series::form::period::Period;

/// One period of one scope of a series, as one of its versions writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter<'a> {
    pub series: &'a str,
    /// The version of the definition by which the caller writes the numbers.
    pub version: u32,
    pub period: Period,
    /// Empty if none was named.
    pub scope: &'a str,
}

impl<'a> Counter<'a> {
    /// Its name in the process: that of a tag. No part of it has a slash.
    pub fn tag(&self) -> String {
        let Counter { series, version, period, scope } = self;
        format!("{series}/{version}/{period}/{scope}")
    }

    /// The counter of this name.
    pub fn of_tag(tag: &'a str) -> Option<Counter<'a>> {
        let mut parts = tag.splitn(4, '/');
        Some(Counter {
            series: parts.next()?,
            version: parts.next()?.parse().ok()?,
            period: parts.next()?.parse().ok()?,
            scope: parts.next()?,
        })
    }

    /// The first day of its period. All time begins before all days.
    #[cfg_attr(
        not(any(feature = "mysql", feature = "postgres", feature = "sqlite")),
        allow(dead_code)
    )]
    pub fn begins(&self) -> Date {
        self.period.first().unwrap_or(Date::MIN)
    }
}

/// What people know the tag of this name by.
pub(crate) fn tag_label(tag: &str) -> TagLabel<'_> {
    let mut parts = tag.splitn(4, '/');
    let mut next = || parts.next().unwrap_or_default();
    let (series, _version, period, scope) = (next(), next(), next(), next());
    TagLabel::Series { series, period, scope }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_read_back_from_its_name() {
        for period in
            "2026-11-24 2026-W48 2026-11 2026-Q4 2026 FY2026-04 FY2026-04-06 ever".split(' ')
        {
            for scope in ["", "shop-7"] {
                let period = period.parse().unwrap();
                let counter = Counter { series: "orders", version: 3, period, scope };
                assert_eq!(Counter::of_tag(&counter.tag()), Some(counter));
            }
        }
    }
}
