//! Which patterns can be read back, and why.
//!
//! A text is taken apart in one way only:
//!
//! * All items but `{scope}` and `{n}` or `{n:4+}` make as many bytes each time. If only one of
//!   these two is there, it has the bytes that are left.
//! * If both are there, all items on one side of `{n}` have fixed widths, so that one end of it is
//!   known. At the other end, [`number`] sees to it, is a literal, and not a digit of it. So `{n}`
//!   is all the digits from its known end on, and the scope has the bytes that are left.
//!
//! The parts say what the text was made from:
//!
//! * A number with a width has all its digits. One with a least width has no zeros in front but
//!   those up to that width.
//! * [`dates`] sees to it that the fields of a date name one period, and that each of them is the
//!   same on all days of it. [`restart`](super::restart) sees to it that this period lies in one of
//!   those with which the number begins anew.
//! * A check depends on what is before it alone, or on what is behind it, or on the number.

use super::super::error::PatternError;
use super::super::first_day::FirstDay;
use super::super::period::Unit;
use super::fields::Field;
use super::items::{Item, NumberWidth, Placed};

/// Whether the pattern can be read back. Gives the unit of the periods that it shows.
pub fn check(items: &[Placed]) -> Result<Unit, PatternError> {
    once(items)?;
    number(items)?;
    scope(items)?;
    check_digits(items)?;
    dates(items)
}

/// Each thing is there once at most, and the number is.
fn once(items: &[Placed]) -> Result<(), PatternError> {
    for (index, placed) in items.iter().enumerate() {
        let is_same = |before: &&Placed| match (&before.item, &placed.item) {
            (Item::Literal(_), Item::Literal(_)) => false,
            (Item::Date(before), Item::Date(field)) => before == field,
            (before, item) => std::mem::discriminant(before) == std::mem::discriminant(item),
        };
        if let Some(before) = items[..index].iter().find(is_same) {
            let what = match placed.item {
                Item::Number(_) => "{n}".to_owned(),
                Item::Check { .. } => "a check".to_owned(),
                Item::Date(field) => format!("{{{}}}", field.name()),
                _ => "{scope}".to_owned(),
            };
            let reason =
                format!("there is {what} at byte {} already: leave this one out", before.at);
            return Err(PatternError::new(placed.at, reason));
        }
    }
    if find(items, |item| matches!(item, Item::Number(_))).is_none() {
        let end = items.last().map_or(0, |last| last.end);
        return Err(PatternError::new(end, "a pattern needs a number: add {n:6}"));
    }
    Ok(())
}

/// The index of the first item of a kind.
fn find(items: &[Placed], is_it: impl Fn(&Item) -> bool) -> Option<usize> {
    items.iter().position(|placed| is_it(&placed.item))
}

/// The character of a literal that touches the item at `index`, before it and behind it.
///
/// `Ok(None)` is an end of the pattern, and an error is the place of a field.
fn touching(items: &[Placed], index: usize) -> [Result<Option<char>, usize>; 2] {
    let before = index.checked_sub(1).map(|before| &items[before]);
    let before = before.map(|placed| match &placed.item {
        Item::Literal(text) => Ok(text.chars().next_back()),
        _ => Err(placed.at),
    });
    let behind = items.get(index + 1).map(|placed| match &placed.item {
        Item::Literal(text) => Ok(text.chars().next()),
        _ => Err(placed.at),
    });
    [before.unwrap_or(Ok(None)), behind.unwrap_or(Ok(None))]
}

/// A number whose width may differ touches nothing that may be a digit.
fn number(items: &[Placed]) -> Result<(), PatternError> {
    let varies = |item: &Item| matches!(item, Item::Number(NumberWidth::AtLeast(_)));
    let Some(index) = find(items, varies) else { return Ok(()) };
    // The digits of a check are as many each time, and are read as the first or the last ones.
    let is_check =
        |at: usize| matches!(items.get(at), Some(Placed { item: Item::Check { .. }, .. }));
    let first = if index > 0 && is_check(index - 1) { index - 1 } else { index };
    let last = if is_check(index + 1) { index + 1 } else { index };
    let ([before, _], [_, behind]) = (touching(items, first), touching(items, last));
    for side in [before, behind] {
        let what = match side {
            Ok(Some(c)) if c.is_ascii_digit() => format!("the digit {c}"),
            Err(_) => "a field".to_owned(),
            Ok(_) => continue,
        };
        let reason = format!(
            "{{n}} has as many digits as it needs, so nobody can tell where it ends beside {what}: \
             give it a width, such as {{n:6}}, or put a sign such as - between"
        );
        return Err(PatternError::new(items[index].at, reason));
    }
    Ok(())
}

/// A scope touches nothing that may be a part of it to the eye.
fn scope(items: &[Placed]) -> Result<(), PatternError> {
    let Some(index) = find(items, |item| *item == Item::Scope) else { return Ok(()) };
    for side in touching(items, index) {
        let what = match side {
            Ok(Some(c)) if c.is_alphanumeric() => format!("{c:?}"),
            Err(_) => "a field".to_owned(),
            Ok(_) => continue,
        };
        let reason = format!(
            "a scope can have letters and digits, so nobody can tell where it ends beside {what}: \
             put a sign such as - or / between"
        );
        return Err(PatternError::new(items[index].at, reason));
    }
    Ok(())
}

/// A check comes after all that it protects, or before it.
fn check_digits(items: &[Placed]) -> Result<(), PatternError> {
    let checks = items.iter().enumerate().find_map(|(index, placed)| match placed.item {
        Item::Check { check, of_number } => Some((index, check, of_number)),
        _ => None,
    });
    let Some((index, check, of_number)) = checks else { return Ok(()) };
    if check.is_in_front() {
        return reference(items, index);
    }
    let mut behind = items[index..].iter().skip(1);
    let is_field = |placed: &&Placed| !matches!(placed.item, Item::Literal(_));
    let is_number = |placed: &&Placed| matches!(placed.item, Item::Number(_));
    let (unprotected, reason) = if of_number {
        let reason = "a check of the number stands behind it: put {n} before the check";
        (behind.find(is_number), reason)
    } else {
        let reason = "a check is computed over what is before it, and would not protect this \
                      field: put the check behind all fields";
        (behind.find(is_field), reason)
    };
    unprotected.map_or(Ok(()), |field| Err(PatternError::new(field.at, reason)))
}

/// A reference of ISO 11649 is RF, the check at `index`, and at most 21 digits and letters.
fn reference(items: &[Placed], index: usize) -> Result<(), PatternError> {
    const MOST: usize = 21;
    let is_begin = match &items[..index] {
        [Placed { item: Item::Literal(text), .. }] => text.ends_with("RF"),
        _ => false,
    };
    if !is_begin {
        let reason = "a reference of ISO 11649 begins with RF and the check, and all behind them \
                      is protected: write RF{check:iso11649} first";
        return Err(PatternError::new(items[index].at, reason));
    }
    let behind = &items[index + 1..];
    if let Some(scope) = behind.iter().find(|placed| placed.item == Item::Scope) {
        let reason = format!(
            "a reference of ISO 11649 has at most {MOST} digits and letters behind the check, and \
             a scope can have more: leave out {{scope}}"
        );
        return Err(PatternError::new(scope.at, reason));
    }
    let length: usize = behind
        .iter()
        .map(|placed| match &placed.item {
            Item::Literal(text) => text.chars().filter(|c| c.is_alphanumeric()).count(),
            // 2^63-1 has so many digits.
            item => item.width().unwrap_or(19),
        })
        .sum();
    if length > MOST {
        let reason = format!(
            "a reference of ISO 11649 has at most {MOST} digits and letters behind the check, and \
             this one can have {length}: leave out a part"
        );
        return Err(PatternError::new(items[index].at, reason));
    }
    Ok(())
}

/// The fields of a date name a period, and belong to it.
fn dates(items: &[Placed]) -> Result<Unit, PatternError> {
    let place = |field: Field| find(items, |item| *item == Item::Date(field)).map(|i| items[i].at);
    let has = |fields: &[Field]| fields.iter().any(|&field| place(field).is_some());
    let has_fiscal = find(items, |item| matches!(item, Item::Date(field) if field.is_fiscal()));
    let (years, has_fiscal) = ([Field::Year, Field::ShortYear], has_fiscal.is_some());
    let unit = if has(&[Field::Day, Field::DayOfYear]) {
        Unit::Day
    } else if has(&[Field::Week, Field::WeekYear]) {
        Unit::Week
    } else if has(&[Field::Month]) {
        Unit::Month
    } else if has(&[Field::Quarter]) {
        Unit::Quarter
    } else if has(&years) {
        Unit::Year
    } else if has_fiscal {
        Unit::fiscal_year(FirstDay::NEW_YEAR)
    } else {
        Unit::Ever
    };
    let has_year = has(&years);
    let has_month = has(&[Field::Month]) && (has_year || has_fiscal);
    let is_named = |field: Field| match field {
        Field::Year | Field::ShortYear => true,
        field if field.is_fiscal() => true,
        Field::Quarter | Field::DayOfYear => has_year,
        Field::Month => has_year || has_fiscal,
        Field::Day => has_month || has_year && has(&[Field::DayOfYear]),
        Field::WeekYear => has(&[Field::Week]),
        _ => has(&[Field::WeekYear]),
    };
    let fields = || {
        items.iter().filter_map(|placed| match placed.item {
            Item::Date(field) => Some((field, placed.at)),
            _ => None,
        })
    };
    let mut weeks = fields().filter(|(field, _)| matches!(field, Field::Week | Field::WeekYear));
    if has_fiscal
        && unit == Unit::Week
        && let Some((_, at)) = weeks.next()
    {
        return Err(PatternError::new(at, WEEKS));
    }
    if let Some((field, at)) = fields().find(|&(field, _)| !is_named(field)) {
        return Err(PatternError::new(at, needs(field)));
    }
    if let Some((field, at)) = fields().find(|&(field, _)| !field.is_fixed_in(unit)) {
        let reason = format!(
            "{{{}}} changes within a {}, and the number begins anew with it: leave the field out, \
             or add {{MM}} and {{dd}}",
            field.name(),
            name(unit)
        );
        return Err(PatternError::new(at, reason));
    }
    Ok(unit)
}

/// Why no fiscal year has weeks.
pub const WEEKS: &str = "a fiscal year of 52 or 53 weeks begins on another day each year, so no \
     field and no counter knows it: let the program name the year, as the {scope}, or show {dd} \
     and {MM} in place of the week";

/// What a field says too little without.
fn needs(field: Field) -> &'static str {
    match field {
        Field::Day => "{dd} needs the month and the year: add {MM}, and {yyyy}, {yy} or {fy}",
        Field::DayOfYear => "{DDD} needs the year: add {yyyy} or {yy}",
        Field::Week => "{ww} needs the year of the week: add {GGGG}",
        Field::WeekYear => "{GGGG} is the year of a week: add {ww}, or use {yyyy} for the year",
        Field::Quarter => "{q} needs the calendar year: add {yyyy} or {yy}",
        _ => "{MM} needs the year: add {yyyy}, {yy} or {fy}",
    }
}

pub fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::Day => "day",
        Unit::Week => "week",
        Unit::Month => "month",
        Unit::Quarter => "quarter",
        Unit::Year => "year",
        Unit::FiscalYear { .. } => "fiscal year",
        Unit::Ever => "series",
    }
}
