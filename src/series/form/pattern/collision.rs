//! Whether numbers of two patterns could have one text.

use super::super::date::Date;
use super::super::first_day::FirstDay;
use super::Pattern;
use super::fields::Field;
use super::items::{Item, NumberWidth};

/// What stands at one place of each text of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Literal(u8),
    /// A digit of a field: the field and the digit's index.
    Date(Field, usize),
    Digit,
}

impl Pattern {
    /// Whether a number that this pattern writes of a day before `begins` could have the text of
    /// one that `later` writes of that day or a later one. It may say so where none could.
    ///
    /// They differ where both have fixed lengths that differ; where a place, counted from the begin
    /// or from the end, has two signs; or where the fields of a date that stand at the same places
    /// tell the days before `begins` from those after.
    pub(crate) fn may_collide(&self, later: &Pattern, begins: Date) -> bool {
        let [one, other] = [self, later].map(Pattern::cells);
        if let ((one, None), (other, None)) = (&one, &other)
            && one.len() != other.len()
        {
            return false;
        }
        let from_begin = || one.0.iter().zip(&other.0);
        let end = |(cells, end): &(Vec<Cell>, Option<Vec<Cell>>)| {
            end.clone().unwrap_or_else(|| cells.iter().rev().copied().collect())
        };
        let (one_end, other_end) = (end(&one), end(&other));
        let from_end = || one_end.iter().zip(&other_end);
        if from_begin().chain(from_end()).any(|(one, other)| differ(*one, *other)) {
            return false;
        }
        let shared: Vec<Field> = Field::ALL
            .into_iter()
            .filter(|field| {
                let is_it = |(one, other): (&Cell, &Cell)| {
                    one == other && matches!(one, Cell::Date(found, _) if found == field)
                };
                from_begin().filter(|pair| is_it(*pair)).count() == field.width()
                    || from_end().filter(|pair| is_it(*pair)).count() == field.width()
            })
            .collect();
        !tell_apart(&shared, begins, self.first_day)
    }

    /// Whether it is the other pattern with more digits for the number, or as many as it needs.
    pub(crate) fn only_widens(&self, before: &Pattern) -> bool {
        let is_wider = match (before.width, self.width) {
            (NumberWidth::Fixed(before), NumberWidth::Fixed(width)) => width > before,
            (NumberWidth::Fixed(_), NumberWidth::AtLeast(_)) => true,
            (NumberWidth::AtLeast(_), _) => false,
        };
        let is_same = |(one, other): (&Item, &Item)| {
            one == other || matches!((one, other), (Item::Number(_), Item::Number(_)))
        };
        is_wider
            && self.items.len() == before.items.len()
            && self.items.iter().zip(&before.items).all(is_same)
    }

    /// Whether this pattern and one that only widens it could write two numbers as one text.
    ///
    /// A number without a width stands beside what is no digit. So a text shows where it begins and
    /// ends, with zeros in front as well, and one text is one number. With a width, texts differ
    /// that have a fixed length, and others where a place, counted from an end, has two signs.
    pub(crate) fn may_collide_wider(&self, wider: &Pattern) -> bool {
        if wider.width.fixed().is_none() || !self.has_scope {
            return false;
        }
        let [one, other] = [self, wider].map(Pattern::cells);
        let ends = |(_, end): &(Vec<Cell>, Option<Vec<Cell>>)| end.clone().unwrap_or_default();
        let (one_end, other_end) = (ends(&one), ends(&other));
        let pairs = one.0.iter().zip(&other.0).chain(one_end.iter().zip(&other_end));
        !pairs.into_iter().any(|(one, other)| differ(*one, *other))
    }

    /// What stands at each place up to the first part without a fixed length, and, if there is one,
    /// what stands after the last such part, from the end on.
    fn cells(&self) -> (Vec<Cell>, Option<Vec<Cell>>) {
        let varies = |item: &Item| item.width().is_none();
        let Some(first) = self.items.iter().position(varies) else {
            return (self.items.iter().flat_map(cells_of).collect(), None);
        };
        let last = self.items.iter().rposition(varies).unwrap_or(first);
        let begin = self.items[..first].iter().flat_map(cells_of).collect();
        let mut end: Vec<Cell> = self.items[last + 1..].iter().flat_map(cells_of).collect();
        end.reverse();
        (begin, Some(end))
    }
}

fn cells_of(item: &Item) -> Vec<Cell> {
    match item {
        Item::Literal(text) => text.bytes().map(Cell::Literal).collect(),
        Item::Date(field) => (0..field.width()).map(|index| Cell::Date(*field, index)).collect(),
        item => vec![Cell::Digit; item.width().unwrap_or(0)],
    }
}

/// Whether no character stands for both.
fn differ(one: Cell, other: Cell) -> bool {
    match (one, other) {
        (Cell::Literal(one), Cell::Literal(other)) => one != other,
        (Cell::Literal(sign), _) | (_, Cell::Literal(sign)) => !sign.is_ascii_digit(),
        _ => false,
    }
}

/// Whether these fields are less on all days before `begins` than on the others, as parts of a
/// date, the longest first.
fn tell_apart(fields: &[Field], begins: Date, first_day: FirstDay) -> bool {
    let Some(before) = begins.to_civil().yesterday().ok().and_then(Date::from_civil) else {
        return true;
    };
    let has = |field: &Field| fields.contains(field);
    let chains: [&[Field]; 4] =
        [&[Field::Quarter, Field::Month, Field::Day], &[Field::DayOfYear], &[Field::Week], &[]];
    let years: [&[Field]; 4] = [
        &[Field::Year, Field::ShortYear],
        &[Field::Year, Field::ShortYear],
        &[Field::WeekYear],
        &[
            Field::FiscalYear,
            Field::FiscalYearEnd,
            Field::ShortFiscalYear,
            Field::ShortFiscalYearEnd,
        ],
    ];
    years.into_iter().zip(chains).any(|(years, chain)| {
        let Some(year) = years.iter().find(|year| has(year)) else { return false };
        // A day tells nothing without its month.
        let is_of_use =
            |field: &&Field| has(field) && (**field != Field::Day || has(&Field::Month));
        let key = |date: Date| {
            let parts = std::iter::once(year).chain(chain.iter().filter(is_of_use));
            parts.map(|field| field.of(date, first_day)).collect::<Vec<_>>()
        };
        key(before) != key(begins)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn meet(one: &str, other: &str, begins: &str) -> bool {
        let [one, other] = [one, other].map(|text| text.parse::<Pattern>().unwrap());
        one.may_collide(&other, begins.parse().unwrap())
    }

    #[test]
    fn patterns_whose_texts_differ_do_not_meet() {
        for (one, other) in [
            ("{yyyy}-{n:4}", "{yyyy}-{n:6}"),   // lengths
            ("A{n:4}", "B{n:4}"),               // a sign
            ("{scope}-{n:4}", "{scope}/{n:4}"), // a sign, from the end
            ("{n:4}-{yyyy}", "{yyyy}{n:4}-"),   // a sign beside a digit
        ] {
            assert!(!meet(one, other, "2027-01-01"), "{one} {other}");
        }
    }

    #[test]
    fn fields_at_the_same_places_tell_the_days_apart() {
        assert!(!meet("{yyyy}-{n:5}", "{yyyy}-{MM}{n:3}", "2027-01-01"));
        assert!(meet("{yyyy}-{n:5}", "{yyyy}-{MM}{n:3}", "2027-02-01"), "both are of 2027");
        assert!(!meet("{yyyy}{MM}{n:4}", "{yyyy}{MM}{dd}{n:2}", "2027-02-01"));
        assert!(meet("{yyyy}{MM}{n:4}", "{yyyy}{MM}{dd}{n:2}", "2027-02-02"));
        assert!(!meet("{GGGG}{ww}{n:2}", "{GGGG}{ww}{n:2}", "2026-11-23"));
        assert!(meet("{yyyy}{n:4}", "{n:4}{yyyy}", "2027-01-01"), "20262027");
    }
}
