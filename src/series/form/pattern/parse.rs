//! Numbers, read back.

use super::super::check_characters::Check;
use super::super::date::Date;
use super::super::error::ParseError;
use super::super::first_day::FirstDay;
use super::super::period::{Unit, monday};
use super::super::scope::{MAX_SCOPE, is_scope_char};
use super::fields::Field;
use super::items::{Item, NumberWidth};
use super::{Parsed, Pattern};

impl Pattern {
    /// What a number of this pattern says: exactly what it was made from.
    ///
    /// ```
    /// use uidring::series::Pattern;
    ///
    /// let tickets: Pattern = "{scope}/{GGGG}W{ww}/{n}".parse()?;
    /// let parsed = tickets.parse("hall-2/2026W53/107")?;
    /// assert_eq!(parsed.scope(), Some("hall-2"));
    /// assert_eq!(parsed.period().to_string(), "2026-W53");
    /// assert_eq!(parsed.value(), 107);
    ///
    /// let error = tickets.parse("hall-2/2025W53/107").unwrap_err();
    /// assert_eq!(error.at(), 12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ParseError`], if this pattern makes no such text. It names the place.
    pub fn parse(&self, text: &str) -> Result<Parsed, ParseError> {
        let (scope_length, number_length) = self.lengths(text.as_bytes());
        let mut reader = Reader { text, at: 0 };
        let mut fields = Fields { found: [None; Field::ALL.len()], pattern: self };
        let (mut value, mut scope) = (0, None);
        let (mut number_at, mut in_front) = (0..0, None);
        for item in &self.items {
            match item {
                Item::Literal(literal) => reader.literal(literal)?,
                Item::Date(field) => {
                    let at = reader.at;
                    let number = reader.digits(field.width(), field.name())?;
                    fields.found[*field as usize] = Some((number, at));
                }
                Item::Scope => scope = Some(reader.scope(scope_length)?.into()),
                Item::Number(width) => {
                    let begin = reader.at;
                    value = match *width {
                        NumberWidth::Fixed(width) => reader.digits(width.into(), "n")?,
                        NumberWidth::AtLeast(width) => {
                            reader.number(width.into(), number_length)?
                        }
                    };
                    number_at = begin..reader.at;
                }
                Item::Check { check, of_number } => {
                    let at = reader.at;
                    let found = reader.digits(check.width(), "check")?;
                    if check.is_in_front() {
                        in_front = Some((*check, at, found));
                        continue;
                    }
                    let over = if *of_number { number_at.clone() } else { 0..at };
                    right(*check, &text.as_bytes()[over], found, at)?;
                }
            }
        }
        reader.end()?;
        if let Some((check, at, found)) = in_front {
            right(check, &text.as_bytes()[at + check.width()..], found, at)?;
        }
        let date = fields.date_of(self.shown)?;
        let (period, shown) = (self.unit.period(date), self.shown.period(date));
        Ok(Parsed { value, period, shown, scope })
    }

    /// The bytes of the scope, and of the number if its width may differ.
    ///
    /// If the text is none of the pattern, they are just lengths, and the reader finds out.
    fn lengths(&self, text: &[u8]) -> (usize, usize) {
        let left = text.len().saturating_sub(self.fixed.into());
        let is_number = |item: &Item| matches!(item, Item::Number(NumberWidth::AtLeast(_)));
        let Some(number) = self.items.iter().position(is_number) else { return (left, 0) };
        let Some(scope) = self.items.iter().position(|item| *item == Item::Scope) else {
            return (0, left);
        };
        let width = |items: &[Item]| items.iter().filter_map(Item::width).sum::<usize>();
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        // One end of the number is fixed, and at the other one is something else than a digit.
        let digits = if number < scope {
            let begin = width(&self.items[..number]).min(text.len());
            text[begin..].iter().take_while(is_digit).count()
        } else {
            let end = text.len().saturating_sub(width(&self.items[number..]));
            text[..end].iter().rev().take_while(is_digit).count()
        };
        (left.saturating_sub(digits), digits)
    }
}

/// Fails unless `found`, at this place, are the check digits of `text`.
fn right(check: Check, text: &[u8], found: u64, at: usize) -> Result<(), ParseError> {
    if found == u64::from(check.of(text)) {
        return Ok(());
    }
    let s = if check.width() == 1 { " is" } else { "s are" };
    Err(ParseError::new(at, format!("the check digit{s} wrong")))
}

/// Reads a text from left to right.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// What is wrong at the place, where something else is expected.
    fn wrong(&self, at: usize, expected: &str) -> ParseError {
        let found = self.text.get(at..).and_then(|rest| rest.chars().next());
        ParseError::new(
            at,
            match found {
                Some(c) => format!("there is {c:?} where {expected} is expected"),
                None => format!("the text ends where {expected} is expected"),
            },
        )
    }

    fn literal(&mut self, literal: &str) -> Result<(), ParseError> {
        for expected in literal.chars() {
            if !self.text[self.at..].starts_with(expected) {
                return Err(self.wrong(self.at, &format!("{expected:?}")));
            }
            self.at += expected.len_utf8();
        }
        Ok(())
    }

    /// The number that so many digits are, at most 18.
    fn digits(&mut self, width: usize, field: &str) -> Result<u64, ParseError> {
        let mut number = 0;
        for _ in 0..width {
            let Some(digit @ b'0'..=b'9') = self.rest().first() else {
                return Err(self.wrong(self.at, &format!("a digit of {{{field}}}")));
            };
            number = number * 10 + u64::from(digit - b'0');
            self.at += 1;
        }
        Ok(number)
    }

    /// A number of at least `least` digits, in so many bytes.
    fn number(&mut self, least: usize, length: usize) -> Result<u64, ParseError> {
        let at = self.at;
        let too_large = || ParseError::new(at, "the number is above 2^63-1");
        let length = length.max(least);
        let is_zero = self.rest().first() == Some(&b'0');
        let mut number: u64 = 0;
        for _ in 0..length {
            let digit = self.digits(1, "n")?;
            let longer = number.checked_mul(10).and_then(|longer| longer.checked_add(digit));
            number =
                longer.filter(|&longer| i64::try_from(longer).is_ok()).ok_or_else(too_large)?;
        }
        if is_zero && length > least {
            let reason = match least {
                1 => "the number has a zero in front".to_owned(),
                _ => format!("the number has a zero in front and more than {least} digits"),
            };
            return Err(ParseError::new(at, reason));
        }
        Ok(number)
    }

    fn scope(&mut self, length: usize) -> Result<&'a str, ParseError> {
        let begin = self.at;
        for _ in 0..length.max(1) {
            match self.rest().first() {
                Some(&byte) if is_scope_char(byte.into()) => self.at += 1,
                _ => return Err(self.wrong(self.at, "a character of the scope")),
            }
        }
        if length > MAX_SCOPE {
            let reason = format!("the scope has more than {MAX_SCOPE} characters");
            return Err(ParseError::new(begin, reason));
        }
        Ok(&self.text[begin..self.at])
    }

    fn end(&self) -> Result<(), ParseError> {
        match self.rest() {
            [] => Ok(()),
            _ => Err(self.wrong(self.at, "the end")),
        }
    }
}

/// The fields of a date, and where each was found.
struct Fields<'a> {
    found: [Option<(u64, usize)>; Field::ALL.len()],
    pattern: &'a Pattern,
}

impl Fields<'_> {
    fn get(&self, field: Field) -> Option<u16> {
        self.found[field as usize].and_then(|(number, _)| u16::try_from(number).ok())
    }

    /// A date of the one period of this length of which each field is what was read.
    fn date_of(&self, shown: Unit) -> Result<Date, ParseError> {
        let date = self.date(shown).ok_or_else(|| self.no_such_date())?;
        let of_date = |field: Field| {
            let whole = field.whole(date, self.pattern.first_day);
            // Two digits stand for a year of one century, beside a {yyyy} as well.
            if field.is_short() { whole.checked_sub(2000) } else { Some(whole) }
        };
        for field in Field::ALL {
            if self.get(field).is_some_and(|number| Some(number) != of_date(field)) {
                return Err(self.wrong(field, "the other fields say another date"));
            }
        }
        if self.pattern.dates().contains(&date) { Ok(date) } else { Err(self.no_such_date()) }
    }

    /// The error of the finest field.
    fn no_such_date(&self) -> ParseError {
        let finest = [
            Field::Day,
            Field::DayOfYear,
            Field::Week,
            Field::Month,
            Field::Quarter,
            Field::Year,
            Field::FiscalYear,
            Field::ShortFiscalYear,
            Field::FiscalYearEnd,
            Field::ShortFiscalYearEnd,
        ];
        let field = finest.into_iter().find(|&field| self.get(field).is_some());
        self.wrong(field.unwrap_or(Field::Year), "there is no such date")
    }

    fn wrong(&self, field: Field, what: &str) -> ParseError {
        let (number, at) = self.found[field as usize].unwrap_or((0, 0));
        let (name, width) = (field.name(), field.width());
        ParseError::new(at, format!("{{{name}}} cannot be {number:0width$}: {what}"))
    }

    /// A date in the period.
    fn date(&self, unit: Unit) -> Option<Date> {
        let short = || Some(self.get(Field::ShortYear)? + 2000);
        let year = self.get(Field::Year).or_else(short);
        let month = self.get(Field::Month).and_then(|month| u8::try_from(month).ok());
        let date = match unit {
            Unit::Day => match (month, self.get(Field::Day)) {
                (Some(month), Some(day)) => {
                    let day = u8::try_from(day).ok()?;
                    Date::new(self.year_of(year, month, day)?, month, day)?
                }
                _ => Date::of_year(year?, self.get(Field::DayOfYear)?)?,
            },
            Unit::Week => {
                let week = u8::try_from(self.get(Field::Week)?).ok()?;
                monday(self.get(Field::WeekYear)?, week)?
            }
            Unit::Month => Date::new(self.year_of(year, month?, 1)?, month?, 1)?,
            Unit::Quarter => {
                let quarter = u8::try_from(self.get(Field::Quarter)?).ok()?;
                Date::new(year?, quarter.checked_mul(3)?.checked_sub(2)?, 1)?
            }
            Unit::Year => Date::new(year?, 1, 1)?,
            Unit::FiscalYear { .. } => {
                let (year, first_day) = (self.fiscal_year()?, self.pattern.first_day);
                // Numbers of this fiscal year are those of its days in the year 1.
                if year == 0 && first_day != FirstDay::NEW_YEAR {
                    return Date::new(1, 1, 1);
                }
                first_day.in_year(year)
            }
            Unit::Ever => Date::MAX,
        };
        Some(date).filter(|date| date.year() > 0)
    }

    /// The calendar year in which this day is.
    fn year_of(&self, year: Option<u16>, month: u8, day: u8) -> Option<u16> {
        let is_of_next = || self.pattern.first_day.is_after(month, day);
        let fiscal = || Some(self.fiscal_year()? + u16::from(is_of_next()));
        year.or_else(fiscal)
    }

    /// The calendar year in which the fiscal year begins.
    fn fiscal_year(&self) -> Option<u16> {
        let year =
            |whole: Field, short: Field| self.get(whole).or_else(|| Some(self.get(short)? + 2000));
        let end = || year(Field::FiscalYearEnd, Field::ShortFiscalYearEnd);
        year(Field::FiscalYear, Field::ShortFiscalYear)
            .or_else(|| end()?.checked_sub(self.pattern.first_day.ends_later()))
    }
}
