//! [`Pattern`], how a number is written.

mod characters;
mod collision;
mod fields;
mod items;
mod parse;
mod restart;
mod soundness;
mod write;

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::date::Date;
use super::error::PatternError;
use super::first_day::FirstDay;
use super::period::{Period, Unit};
use fields::Field;
use items::{Item, NumberWidth, Placed};

/// How the numbers of a series are written, such as `SO{yyyy}{MM}{dd}-{n:6}`.
///
/// A pattern is literal text with fields in braces:
///
/// | field | shows |
/// |---|---|
/// | `{n:6}` | the number, with zeros in front, in 6 digits. It can have 1 to 18 |
/// | `{n}` | the number in as many digits as it has |
/// | `{n:4+}` | the same, with zeros in front up to 4 digits. It can have 2 to 18 |
/// | `{yyyy}`, `{yy}` | the year; its last two digits, which stand for 2000 to 2099 |
/// | `{MM}`, `{dd}` | the month; the day of the month |
/// | `{DDD}` | the day of the year, `001` to `366` |
/// | `{GGGG}`, `{ww}` | the year of an ISO week, which may differ from the date's; the week |
/// | `{q}` | the quarter, `1` to `4` |
/// | `{fy}`, `{fy:yy}` | the fiscal year, by the calendar year that it begins in |
/// | `{fye}`, `{fye:yy}` | the same, by the calendar year that it ends in |
/// | `{fy:yyyy-yy}`, `{fy:yyyy-yyyy}`, `{fy:yy-yy}` | the same, by both |
/// | `{scope}` | the scope: a shop, a tenant |
/// | `{check:luhn}`, `{check:damm}`, `{check:mod11_10}`, `{check:gs1}` | a check digit |
/// | `{check:mod97_10}`, `{check:mod97}` | two check digits |
/// | `RF{check:iso11649}` | two check digits, in front |
/// | `{{`, `}}` | a brace |
///
/// There is exactly one number, at most one scope and one check, and each field of a date at most
/// once. The finest of the fields of a date says which period is shown, and with what the counter
/// begins anew: `{dd}` and `{DDD}` with each day, `{ww}` with each week, `{MM}`, `{q}`, `{yyyy}` or
/// `{yy}`, and `{fy}`. Without any it counts for ever. A
/// [definition](crate::series::SeriesDefinition::restart) can have the counter begin anew less
/// often.
///
/// # What is refused
///
/// A pattern is read back: [`parse`](Pattern::parse) gives exactly the number, the period and the
/// scope that a text was made from, and no other number, period or scope has that text. So these
/// are refused:
///
/// * fields that do not say which period it is: a week needs its year `{GGGG}`, a quarter and a
///   month need a year, a day needs a month and a year, and a day of the year needs a year. For a
///   month, a fiscal year will do;
/// * fields that are not the same through the whole period, such as `{yyyy}` beside a week, or
///   beside a fiscal year;
/// * `{n}` or `{n:4+}` beside what may be a digit: another field, or a literal digit. A check is
///   not;
/// * `{scope}` beside a field, a letter or a digit: it needs a sign such as `-` or `/` between, or
///   an end of the pattern;
/// * a check before a field that it would not protect;
/// * literal text that is not in the normal form C of Unicode, so that a text has one spelling;
///   a character that cannot be seen, that looks like a digit or like one of ASCII, or that is
///   written from right to left, as the parts of a number would then be seen in another order.
///
/// # Checks
///
/// | check | digits | computed over | finds |
/// |---|---|---|---|
/// | `luhn` | 1 | digits | each wrong digit, and most swaps of two neighbours |
/// | `mod11_10` | 1 | digits | the same |
/// | `damm` | 1 | digits | each wrong digit, and each swap of two neighbours |
/// | `gs1` | 1 | digits | each wrong digit, and most swaps of two neighbours |
/// | `mod97` | 2 | digits | each wrong digit, and each swap of two neighbours |
/// | `mod97_10` | 2 | digits and letters | each wrong digit or letter, and each swap but three |
/// | `iso11649` | 2 | digits and letters | the same |
///
/// A check is computed over all that is before it in the text, literal text included, and
/// `{check:luhn:n}` over the number alone; so for each of them. Luhn (ISO/IEC 7812-1), Damm, MOD
/// 11,10 (ISO 7064), the check digit of GS1 and the rest by 97 of Belgium's banks, 97 in place of
/// 0, see the decimal digits alone. MOD 97-10 (ISO 7064) sees letters as well, each as a number
/// from 10 to 35 whatever its case, as an IBAN does. B is 11, so that `B1` and `1B` are the same to
/// it, as are `M2` and `2M`, and `X3` and `3X`. A creditor's reference (ISO 11649) begins with `RF`
/// and the check, which is computed over all behind it: at most 21 digits and letters, and no
/// scope.
/// None sees signs such as `-`, or letters that are none of ASCII.
///
/// ```
/// use uidring::series::{Pattern, Unit};
///
/// let invoices: Pattern = "{yyyy}-{n:5}{check:damm}".parse()?;
/// assert_eq!((invoices.unit(), invoices.largest()), (Unit::Year, 99_999));
/// let text = invoices.format("2026-11-24".parse()?, None, 42)?;
/// assert_eq!(text, "2026-000425");
/// assert_eq!(invoices.parse(&text)?.value(), 42);
/// let error = invoices.parse("2026-000245").unwrap_err(); // two digits swapped
/// assert_eq!(error.to_string(), "at byte 10 of the number: the check digit is wrong");
///
/// let error = "{yy}{n}".parse::<Pattern>().unwrap_err();
/// assert_eq!(error.at(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    text: Box<str>,
    items: Box<[Item]>,
    /// The period that its text says, whole or as a part of a longer one.
    shown: Unit,
    /// With what the counter begins anew.
    unit: Unit,
    /// The day that a fiscal year begins on.
    first_day: FirstDay,
    dates: RangeInclusive<Date>,
    width: NumberWidth,
    /// The bytes of a text without its scope, and without its number where its width may differ.
    fixed: u16,
    has_scope: bool,
}

impl Pattern {
    /// With what the counter begins anew.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The period that is shown: the finest of its fields of a date, and what the counter begins
    /// anew with unless [`restart`](crate::series::SeriesDefinition::restart) says otherwise.
    ///
    /// ```
    /// use uidring::series::{SeriesDefinition, Unit};
    ///
    /// let invoices = SeriesDefinition::new("{yy}{MM}-{n:4}")?.restart(Unit::Year);
    /// let pattern = invoices.pattern();
    /// assert_eq!((pattern.shown(), pattern.unit()), (Unit::Month, Unit::Year));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shown(&self) -> Unit {
        self.shown
    }

    /// The largest number that fits: that of as many nines as the field is wide. It is 2^63-1 for
    /// `{n}` and for `{n:4+}`.
    #[must_use]
    pub fn largest(&self) -> u64 {
        match self.width {
            NumberWidth::Fixed(width) => 10_u64.pow(width.into()) - 1,
            NumberWidth::AtLeast(_) => i64::MAX.unsigned_abs(),
        }
    }

    /// How many digits the number has, or `None` if it may have more and more.
    #[must_use]
    pub fn width(&self) -> Option<u32> {
        self.width.fixed().map(u32::from)
    }

    /// Whether a scope is in the text.
    #[must_use]
    pub fn has_scope(&self) -> bool {
        self.has_scope
    }

    /// The dates that the pattern can show: those of the years 1 to 9999, or with two digits for a
    /// year 2000 to 2099. A fiscal year begins and ends in these years where two digits show it,
    /// and ends in them where the year is shown in which it ends.
    #[must_use]
    pub fn dates(&self) -> RangeInclusive<Date> {
        self.dates.clone()
    }

    /// Whether the pattern shows a fiscal year.
    pub(super) fn has_fiscal_year(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Date(field) if field.is_fiscal()))
    }

    /// The day that fiscal years begin on. It is 1 January unless it is set.
    pub(super) fn begin_fiscal_years_on(&mut self, first_day: FirstDay) {
        self.first_day = first_day;
        self.dates = dates(&self.items, first_day);
        for unit in [&mut self.shown, &mut self.unit] {
            if let Unit::FiscalYear { .. } = unit {
                *unit = Unit::fiscal_year(first_day);
            }
        }
    }

    /// Has the counter begin anew with another unit than the one that is shown.
    pub(super) fn restart(&mut self, unit: Unit) {
        self.unit = unit;
    }

    /// Fails if two numbers could have one text, as the counter begins anew, or where fiscal years
    /// begin.
    pub(super) fn check_restart(&self) -> Result<(), PatternError> {
        let placed = items::read(&self.text)?;
        restart::check(&placed, self.shown, self.unit, self.first_day)
    }
}

/// The dates that these items can show, where fiscal years begin on this day.
fn dates(items: &[Item], first_day: FirstDay) -> RangeInclusive<Date> {
    let has = |is_it: fn(&Field) -> bool| {
        items.iter().any(|item| matches!(item, Item::Date(field) if is_it(field)))
    };
    let (first, last) = if has(|field| field.is_short()) { (2000, 2099) } else { (1, 9999) };
    let mut begin = Date::first_of_year(first);
    if has(|field| field.is_short() && field.is_fiscal()) {
        begin = first_day.in_year(first);
    }
    let mut end = Date::last_of_year(last);
    if first_day.ends_later() > 0 && has(|field| field.is_fiscal_end()) {
        let next = first_day.in_year(last).to_civil();
        end = next.yesterday().ok().and_then(Date::from_civil).unwrap_or(end);
    }
    begin..=end
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let placed = items::read(text)?;
        let shown = soundness::check(&placed)?;
        let items: Box<[Item]> = placed.into_iter().map(|Placed { item, .. }| item).collect();
        let width = items.iter().find_map(|item| match item {
            Item::Number(width) => Some(*width),
            _ => None,
        });
        let fixed = items.iter().filter_map(Item::width).sum::<usize>();
        Ok(Pattern {
            text: text.into(),
            shown,
            unit: shown,
            first_day: FirstDay::NEW_YEAR,
            dates: dates(&items, FirstDay::NEW_YEAR),
            width: width.unwrap_or(NumberWidth::AtLeast(1)),
            // A pattern has at most 128 characters, and each of them stands for at most 4 bytes.
            fixed: u16::try_from(fixed).unwrap_or(u16::MAX),
            has_scope: items.contains(&Item::Scope),
            items,
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.text).finish()
    }
}

/// What a number says, see [`Pattern::parse`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parsed {
    value: u64,
    period: Period,
    shown: Period,
    scope: Option<Box<str>>,
}

impl Parsed {
    /// The number itself.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The period in which it was counted.
    #[must_use]
    pub fn period(&self) -> Period {
        self.period
    }

    /// The period that the text shows: that of [`period`](Parsed::period), or a part of it.
    ///
    /// ```
    /// use uidring::series::{SeriesDefinition, Unit};
    ///
    /// let invoices = SeriesDefinition::new("{yy}{MM}-{n:4}")?.restart(Unit::Year);
    /// let parsed = invoices.pattern().parse("2611-0042")?;
    /// assert_eq!(parsed.period().to_string(), "2026");
    /// assert_eq!(parsed.shown().to_string(), "2026-11");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shown(&self) -> Period {
        self.shown
    }

    /// The scope, if the pattern has one.
    #[must_use]
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }
}
