//! Whether the text of a number shows with which period it was counted, so that no other period has
//! that text.

use super::super::error::PatternError;
use super::super::first_day::FirstDay;
use super::super::period::Unit;
use super::fields::Field;
use super::items::{Item, Placed};
use super::soundness::{WEEKS, name};

/// The fields of a date, the finest first.
const FINEST: [Field; 12] = [
    Field::Day,
    Field::DayOfYear,
    Field::Week,
    Field::WeekYear,
    Field::Month,
    Field::Quarter,
    Field::Year,
    Field::ShortYear,
    Field::FiscalYear,
    Field::ShortFiscalYear,
    Field::FiscalYearEnd,
    Field::ShortFiscalYearEnd,
];

/// Fails if two numbers could have one text where the number begins anew with `unit`, and fiscal
/// years on a day.
pub fn check(
    items: &[Placed],
    shown: Unit,
    unit: Unit,
    first_day: FirstDay,
) -> Result<(), PatternError> {
    let place = |field: &Field| items.iter().find(|placed| placed.item == Item::Date(*field));
    let is_fiscal =
        |placed: &&Placed| matches!(placed.item, Item::Date(field) if field.is_fiscal());
    if shown == Unit::Month
        && first_day.day() > 1
        && let Some(fiscal) = items.iter().find(is_fiscal)
    {
        let reason = format!(
            "a fiscal year that begins on {first_day} changes within a month, so two months would \
             have one text: add {{dd}}, or leave out {{MM}}"
        );
        return Err(PatternError::new(fiscal.at, reason));
    }
    if lies_in(shown, unit, first_day) {
        return Ok(());
    }
    let each = match unit {
        Unit::FiscalYear { .. } => format!("fiscal year from {first_day} on"),
        unit => name(unit).to_owned(),
    };
    let finest = FINEST.iter().find_map(|field| Some((field, place(field)?.at)));
    let Some((field, at)) = finest else {
        let number = items.iter().find(|placed| matches!(placed.item, Item::Number(_)));
        let reason = format!(
            "the number begins anew with each {each}, and nothing says which one it is, so two \
             numbers would have one text: add {}",
            shown_by(unit)
        );
        return Err(PatternError::new(number.map_or(0, |number| number.at), reason));
    };
    let field = field.name();
    let reason = if length(unit) < length(shown) {
        format!(
            "the number begins anew with each {each}, and {{{field}}} does not say which one it \
             is, so two numbers would have one text: show it by {}",
            shown_by(unit)
        )
    } else if shown == Unit::Week && length(unit) >= length(Unit::Year) {
        format!(
            "a week can lie in two years, in each of which the number begins anew, so two numbers \
             would have one text; {WEEKS}"
        )
    } else {
        let instead = match unit {
            Unit::FiscalYear { .. } if shown == Unit::Year => "{fy}",
            Unit::Year => "{yyyy}",
            _ => "{yyyy}{MM}{dd}",
        };
        format!(
            "the {} of {{{field}}} can lie in two of those with which the number begins anew, each \
             {each}, so two numbers would have one text: show {instead} in place of it",
            name(shown)
        )
    };
    Err(PatternError::new(at, reason))
}

/// Whether each period of one length lies in one of the other.
fn lies_in(shown: Unit, unit: Unit, first_day: FirstDay) -> bool {
    let begins_with_month = first_day.day() == 1;
    match (shown, unit) {
        (shown, unit) if shown == unit => true,
        (_, Unit::Ever)
        | (Unit::Day, _)
        | (Unit::Month, Unit::Quarter | Unit::Year)
        | (Unit::Quarter, Unit::Year) => true,
        (Unit::Month, Unit::FiscalYear { .. }) => begins_with_month,
        (Unit::Quarter, Unit::FiscalYear { .. }) => begins_with_month && first_day.month() % 3 == 1,
        (Unit::Year, Unit::FiscalYear { .. }) | (Unit::FiscalYear { .. }, Unit::Year) => {
            first_day == FirstDay::NEW_YEAR
        }
        _ => false,
    }
}

/// Larger for longer ones.
fn length(unit: Unit) -> u8 {
    match unit {
        Unit::Day => 0,
        Unit::Week => 1,
        Unit::Month => 2,
        Unit::Quarter => 3,
        Unit::Year | Unit::FiscalYear { .. } => 4,
        Unit::Ever => 5,
    }
}

/// The fields that show it.
fn shown_by(unit: Unit) -> &'static str {
    match unit {
        Unit::Day => "{yyyy}{MM}{dd}",
        Unit::Week => "{GGGG}{ww}",
        Unit::Month => "{yyyy}{MM}",
        Unit::Quarter => "{yyyy}{q}",
        Unit::Year => "{yyyy}",
        Unit::FiscalYear { .. } => "{fy}",
        Unit::Ever => "{n}",
    }
}
