//! Numbers, written.

use super::super::date::Date;
use super::super::error::FormatError;
use super::super::number::SeriesNumber;
use super::super::scope::valid_scope;
use super::Pattern;
use super::items::{Item, NumberWidth};

/// As many zeros as the widest field has digits.
const ZEROS: &str = "000000000000000000";

impl Pattern {
    /// The text of a number.
    ///
    /// It shows of the date what the fields of the pattern show: numbers of one period have the
    /// same date in them.
    ///
    /// ```
    /// use uidring::series::Pattern;
    ///
    /// let tickets: Pattern = "{scope}/{yy}{DDD}-{n:3}".parse()?;
    /// let text = tickets.format("2026-11-24".parse()?, Some("hall-2"), 107)?;
    /// assert_eq!(text, "hall-2/26328-107");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormatError`], if the number is above [`largest`](Pattern::largest), if the date is not in
    /// [`dates`](Pattern::dates), if the scope is not [valid](valid_scope), or if there is a scope
    /// and the pattern has none, or the other way round.
    pub fn format(
        &self,
        date: Date,
        scope: Option<&str>,
        number: u64,
    ) -> Result<String, FormatError> {
        self.check_date(date)?;
        if number > self.largest() {
            return Err(FormatError::Number { number, largest: self.largest() });
        }
        match scope {
            Some(scope) => {
                valid_scope(scope)?;
                if !self.has_scope {
                    return Err(FormatError::ScopeNotShown { scope: scope.into() });
                }
            }
            None if self.has_scope => return Err(FormatError::NoScope),
            None => {}
        }
        Ok(self.write(date, scope.unwrap_or_default(), number))
    }

    /// The number as people see it, counted in the period of a `date` that the pattern can show.
    pub(crate) fn number(&self, date: Date, scope: &str, number: u64) -> SeriesNumber {
        let (period, shown) = (self.unit().period(date), self.shown().period(date));
        SeriesNumber::new(self.write(date, scope, number), number, period, shown)
    }

    /// Fails if there has to be a scope, and it is empty.
    pub(crate) fn check_scope(&self, scope: &str) -> Result<(), FormatError> {
        if self.has_scope && scope.is_empty() { Err(FormatError::NoScope) } else { Ok(()) }
    }

    /// Like [`check_scope`](Pattern::check_scope), where no date is named. A scope that the pattern
    /// does not show is the caller's to keep apart; but a date is no scope then: it was meant as
    /// the date, and today's texts would be given again.
    pub(crate) fn check_scope_alone(&self, scope: &str) -> Result<(), FormatError> {
        if !self.has_scope && scope.parse::<Date>().is_ok() {
            return Err(FormatError::ScopeNotShown { scope: scope.into() });
        }
        self.check_scope(scope)
    }

    /// Whether the pattern can show the date.
    pub(crate) fn check_date(&self, date: Date) -> Result<(), FormatError> {
        let dates = self.dates();
        if dates.contains(&date) {
            return Ok(());
        }
        Err(FormatError::Date { date, first: *dates.start(), last: *dates.end() })
    }

    /// The same pattern with this date written out, so that each number of its period takes less
    /// work. Pieces of literal text are never neighbours, as in all patterns.
    pub(crate) fn on(&self, date: Date) -> Pattern {
        let mut items: Vec<Item> = Vec::new();
        for item in &self.items {
            let mut text = String::new();
            match item {
                Item::Literal(literal) => text.push_str(literal),
                Item::Date(field) => {
                    push(&mut text, field.of(date, self.first_day).into(), field.width());
                }
                item => {
                    items.push(item.clone());
                    continue;
                }
            }
            match items.last_mut() {
                Some(Item::Literal(before)) => *before = format!("{before}{text}").into(),
                _ => items.push(Item::Literal(text.into())),
            }
        }
        Pattern { items: items.into(), ..self.clone() }
    }

    /// The text of a number, which is allocated once.
    ///
    /// The caller has checked that the number fits, the scope, and [the date](Self::check_date). A
    /// pattern without a scope ignores it.
    pub(crate) fn write(&self, date: Date, scope: &str, number: u64) -> String {
        let scope_length = if self.has_scope { scope.len() } else { 0 };
        let number_length = match self.width {
            NumberWidth::Fixed(_) => 0,
            NumberWidth::AtLeast(width) => digits_of(number).max(width.into()),
        };
        let length = usize::from(self.fixed) + scope_length + number_length;
        let mut text = String::with_capacity(length);
        // Where the number is, and the check that is in front of what it is computed over.
        let (mut number_at, mut in_front) = (0..0, None);
        for item in &self.items {
            match item {
                Item::Literal(literal) => text.push_str(literal),
                Item::Date(field) => {
                    push(&mut text, field.of(date, self.first_day).into(), field.width());
                }
                Item::Scope => text.push_str(scope),
                Item::Number(width) => {
                    let begin = text.len();
                    push(&mut text, number, width.least().into());
                    number_at = begin..text.len();
                }
                Item::Check { check, .. } if check.is_in_front() => {
                    in_front = Some((*check, text.len()));
                    push(&mut text, 0, check.width());
                }
                Item::Check { check, of_number } => {
                    let over = if *of_number { number_at.clone() } else { 0..text.len() };
                    let digits = check.of(&text.as_bytes()[over]);
                    push(&mut text, digits.into(), check.width());
                }
            }
        }
        if let Some((check, at)) = in_front {
            let end = at + check.width();
            let digits = check.of(&text.as_bytes()[end..]);
            text.replace_range(at..end, &format!("{digits:0width$}", width = check.width()));
        }
        text
    }
}

/// How many digits a number has.
fn digits_of(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
}

/// Appends a number, with zeros in front if it has fewer digits than `width`.
fn push(text: &mut String, number: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    text.push_str(&ZEROS[..width.saturating_sub(digits.len())]);
    text.push_str(digits);
}
