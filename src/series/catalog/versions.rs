//! Whether a version can follow others.

use std::cmp::Ordering;

use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::definition::SeriesDefinition;
use crate::series::store::{SeriesRecord, SeriesVersion};

/// Fails if a number that `new` writes from the day `begins` on could have the text of one that an
/// older version of the series has written before.
pub(crate) fn check_change(
    record: &SeriesRecord,
    new: &SeriesDefinition,
    begins: Date,
) -> Result<(), SeriesError> {
    let refused =
        |problem: String| Err(SeriesError::BadChange { series: record.name.clone(), problem });
    let latest = record.latest();
    if begins <= latest.begins {
        return refused(format!(
            "version {} begins with {}; name a later day",
            latest.number, latest.begins
        ));
    }
    if latest.definition.pattern().has_scope() && !new.pattern().has_scope() {
        return refused(
            "scopes that the pattern no longer shows would have the same texts; keep {scope}"
                .to_owned(),
        );
    }
    for version in &record.versions {
        let pattern = version.definition.pattern();
        if pattern.may_collide(new.pattern(), begins) {
            return refused(format!(
                "{} could write the text of a number that version {}, {pattern}, has written \
                 before {begins}; give one of them another length or another sign at one place",
                new.pattern(),
                version.number
            ));
        }
    }
    Ok(())
}

/// Fails if a number that `new` writes in the place of `version`, which it widens, could have the
/// text of one that a version of the series writes.
pub(crate) fn check_widening(
    record: &SeriesRecord,
    version: &SeriesVersion,
    new: &SeriesDefinition,
) -> Result<(), SeriesError> {
    let wider = new.pattern();
    for other in &record.versions {
        let pattern = other.definition.pattern();
        let may_collide = match other.begins.cmp(&version.begins) {
            Ordering::Less => pattern.may_collide(wider, version.begins),
            Ordering::Equal => pattern.may_collide_wider(wider),
            Ordering::Greater => wider.may_collide(pattern, other.begins),
        };
        if may_collide {
            let problem = format!(
                "{wider} could write the text of a number of version {}, {pattern}; give the \
                 number more digits, or as many as it needs by {{n}}",
                other.number
            );
            return Err(SeriesError::BadChange { series: record.name.clone(), problem });
        }
    }
    Ok(())
}
