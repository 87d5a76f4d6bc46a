//! Numbers, written.

use super::super::date::Date;
use super::super::error::FormatError;
use super::super::scope::valid_scope;
use super::Pattern;
use super::items::Item;

/// The most digits that a 64-bit number has.
const MOST_DIGITS: usize = 20;

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
        let mut text = String::new();
        self.write(&mut text, date, scope.unwrap_or_default(), number);
        Ok(text)
    }

    /// Whether the pattern can show the date.
    pub(crate) fn check_date(&self, date: Date) -> Result<(), FormatError> {
        let dates = self.dates();
        if dates.contains(&date) {
            return Ok(());
        }
        Err(FormatError::Date { date, first: *dates.start(), last: *dates.end() })
    }

    /// The same pattern, in which the fields of this date are literal text, and pieces of literal
    /// text are one. It writes each number of a period with less work.
    pub(crate) fn on(&self, date: Date) -> Pattern {
        let mut items: Vec<Item> = Vec::new();
        let mut literal = String::new();
        for item in &self.items {
            match item {
                Item::Literal(text) => literal.push_str(text),
                Item::Date(field) => {
                    push_digits(&mut literal, field.of(date, self.first_month), field.width());
                }
                item => {
                    if !literal.is_empty() {
                        items.push(Item::Literal(std::mem::take(&mut literal).into()));
                    }
                    items.push(item.clone());
                }
            }
        }
        if !literal.is_empty() {
            items.push(Item::Literal(literal.into()));
        }
        Pattern { items: items.into(), ..self.clone() }
    }

    /// Appends the text of a number.
    ///
    /// The caller has checked that the number fits, the scope, and [the date](Self::check_date). A
    /// pattern without a scope ignores it. An empty `text` allocates once.
    pub(crate) fn write(&self, text: &mut String, date: Date, scope: &str, number: u64) {
        let begin = text.len();
        let scope_length = if self.has_scope { scope.len() } else { 0 };
        let number_length = if self.width.is_none() { digits_of(number) } else { 0 };
        text.reserve_exact(usize::from(self.fixed) + scope_length + number_length);
        for item in &self.items {
            match item {
                Item::Literal(literal) => text.push_str(literal),
                Item::Date(field) => {
                    push_digits(text, field.of(date, self.first_month), field.width());
                }
                Item::Scope => text.push_str(scope),
                Item::Number { width: Some(width) } => push_number(text, number, (*width).into()),
                Item::Number { width: None } => push_number(text, number, number_length),
                Item::Check(check) => {
                    let digits = check.of(&text.as_bytes()[begin..]);
                    push_digits(text, digits.into(), check.width());
                }
            }
        }
    }
}

/// The two digits of each number below 100.
const DIGITS: &str = "\
    00010203040506070809101112131415161718192021222324\
    25262728293031323334353637383940414243444546474849\
    50515253545556575859606162636465666768697071727374\
    75767778798081828384858687888990919293949596979899";

/// Appends the last two digits of a number.
fn push_two(text: &mut String, number: u16) {
    let at = usize::from(number % 100) * 2;
    text.push_str(&DIGITS[at..at + 2]);
}

/// Appends the last digit of a number.
fn push_one(text: &mut String, number: u16) {
    let at = usize::from(number % 10) * 2 + 1;
    text.push_str(&DIGITS[at..=at]);
}

/// Appends the last digits of a number, at most four.
fn push_digits(text: &mut String, number: u16, width: usize) {
    match width {
        1 => return push_one(text, number),
        2 => {}
        3 => push_one(text, number / 100),
        _ => push_two(text, number / 100),
    }
    push_two(text, number);
}

/// How many digits a number has.
fn digits_of(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
}

/// Appends the last digits of a number, at most 20.
fn push_number(text: &mut String, number: u64, width: usize) {
    let mut digits = [b'0'; MOST_DIGITS];
    let mut rest = number;
    for pair in digits.rchunks_exact_mut(2) {
        if rest == 0 {
            break;
        }
        let [last_two, ..] = (rest % 100).to_le_bytes();
        let at = usize::from(last_two) * 2;
        pair.copy_from_slice(&DIGITS.as_bytes()[at..at + 2]);
        rest /= 100;
    }
    // One copy. That they are text is checked in less time than each pair would take by itself.
    let digits = str::from_utf8(&digits[MOST_DIGITS.saturating_sub(width)..]);
    text.push_str(digits.unwrap_or_default());
}
