//! The text of a pattern, taken apart.

use super::super::check_characters::Check;
use super::super::error::PatternError;
use super::characters;
use super::fields::Field;

/// The most characters that a pattern can have.
const MAX_PATTERN: usize = 128;
/// The most digits that a number with a width can have: all below 10^18 are positive 64-bit
/// numbers.
const MAX_WIDTH: u8 = 18;

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// Text, at least one character.
    Literal(Box<str>),
    Date(Field),
    Scope,
    Number(NumberWidth),
    /// A check, of all that is on one side of it, or of the number alone.
    Check {
        check: Check,
        of_number: bool,
    },
}

impl Item {
    /// How many bytes of text it makes, or `None` if that differs.
    pub fn width(&self) -> Option<usize> {
        match self {
            Item::Literal(text) => Some(text.len()),
            Item::Date(field) => Some(field.width()),
            Item::Scope => None,
            Item::Number(width) => width.fixed().map(usize::from),
            Item::Check { check, .. } => Some(check.width()),
        }
    }
}

/// In how many digits a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberWidth {
    /// In so many, with zeros in front.
    Fixed(u8),
    /// In as many as it has, with zeros in front if these are fewer than so many.
    AtLeast(u8),
}

impl NumberWidth {
    /// How many digits it always has.
    pub fn fixed(self) -> Option<u8> {
        match self {
            NumberWidth::Fixed(width) => Some(width),
            NumberWidth::AtLeast(_) => None,
        }
    }

    /// The fewest digits that it has.
    pub fn least(self) -> u8 {
        let (NumberWidth::Fixed(width) | NumberWidth::AtLeast(width)) = self;
        width
    }
}

/// A part of a pattern, and where it is.
#[derive(Debug)]
pub struct Placed {
    pub item: Item,
    /// Where it begins in the pattern, in bytes.
    pub at: usize,
    /// Where it ends.
    pub end: usize,
}

/// Takes a pattern apart. Pieces of literal text are never neighbours.
pub fn read(text: &str) -> Result<Vec<Placed>, PatternError> {
    if text.is_empty() {
        return Err(PatternError::new(0, "a pattern cannot be empty: it has at least {n}"));
    }
    characters::check(text)?;
    if let Some((at, _)) = text.char_indices().nth(MAX_PATTERN) {
        let reason = format!(
            "a pattern cannot have {} characters: it has at most {MAX_PATTERN}",
            text.chars().count()
        );
        return Err(PatternError::new(at, reason));
    }
    if let Some(at) = [0, text.len() - 1].into_iter().find(|&at| text.as_bytes()[at] == b' ') {
        let reason = "a number cannot begin or end with a space, which is lost where it is copied";
        return Err(PatternError::new(at, reason));
    }
    let mut items: Vec<Placed> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + c.len_utf8()..];
        let (piece, end) = match c {
            '{' | '}' if rest.starts_with(c) => (c, at + 2),
            '{' => {
                let end = at + 1 + rest.find('}').ok_or_else(|| unclosed(at))?;
                for item in field(&text[at + 1..end], at)? {
                    items.push(Placed { item, at, end: end + 1 });
                }
                at = end + 1;
                continue;
            }
            '}' => {
                let reason = "this brace closes nothing: write }} for a brace in the text";
                return Err(PatternError::new(at, reason));
            }
            c => (c, at + c.len_utf8()),
        };
        if let Some(Placed { item: Item::Literal(text), end: last, .. }) = items.last_mut() {
            let mut longer = std::mem::take(text).into_string();
            longer.push(piece);
            *text = longer.into();
            *last = end;
        } else {
            characters::check_first(piece, at)?;
            items.push(Placed { item: Item::Literal(piece.to_string().into()), at, end });
        }
        at = end;
    }
    Ok(items)
}

fn unclosed(at: usize) -> PatternError {
    PatternError::new(at, "this brace is not closed: write {{ for a brace in the text")
}

/// What the text between two braces stands for: a field, or the two years of a fiscal year with a
/// sign between.
fn field(text: &str, at: usize) -> Result<Vec<Item>, PatternError> {
    if let Some(field) = Field::ALL.into_iter().find(|field| field.name() == text) {
        return Ok(vec![Item::Date(field)]);
    }
    let years = |first, last| vec![Item::Date(first), Item::Literal("-".into()), Item::Date(last)];
    match text {
        "fy:yyyy-yyyy" => Ok(years(Field::FiscalYear, Field::FiscalYearEnd)),
        "fy:yyyy-yy" => Ok(years(Field::FiscalYear, Field::ShortFiscalYearEnd)),
        "fy:yy-yy" => Ok(years(Field::ShortFiscalYear, Field::ShortFiscalYearEnd)),
        _ => other_field(text, at).map(|item| vec![item]),
    }
}

fn other_field(text: &str, at: usize) -> Result<Item, PatternError> {
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (text, None),
    };
    let more = &text[name.len()..];
    match (name, argument) {
        ("n", None) => return Ok(Item::Number(NumberWidth::AtLeast(1))),
        ("n", Some(width)) => return number_width(width, at).map(Item::Number),
        ("scope", None) => return Ok(Item::Scope),
        ("check", Some(method)) => return check(method, at),
        ("check", None) => return Err(unknown_check("", at)),
        _ => {}
    }
    let reason = match name {
        "scope" => format!("{{scope}} is as long as the scope: leave out {more:?}"),
        "fy" | "fye" => format!(
            "a fiscal year is not written {{{text}}}: there are {{fy}} {{fy:yy}} {{fy:yyyy-yy}} \
             {{fy:yyyy-yyyy}} {{fy:yy-yy}}, and {{fye}} {{fye:yy}} for the year in which it ends"
        ),
        name if Field::ALL.into_iter().any(|field| field.name() == name) => {
            format!("{{{name}}} has a width of its own: leave out {more:?}")
        }
        _ => return Err(unknown_field(text, at)),
    };
    Err(PatternError::new(at, reason))
}

fn number_width(text: &str, at: usize) -> Result<NumberWidth, PatternError> {
    let (digits, least) = match text.strip_suffix('+') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let width = digits.parse().ok().filter(|width| is_plain && (1..=MAX_WIDTH).contains(width));
    let width = width.ok_or_else(|| {
        let reason = format!(
            "{text:?} is not the width of a number: use 1 to {MAX_WIDTH}, without a zero in front, \
             and a + behind if the number may have more digits"
        );
        PatternError::new(at, reason)
    })?;
    // `{n}` and `{n:1+}` mean the same, and so have one form.
    if least && width == 1 {
        return Err(PatternError::new(at, "each number has at least one digit: write {n}"));
    }
    Ok(if least { NumberWidth::AtLeast(width) } else { NumberWidth::Fixed(width) })
}

fn check(text: &str, at: usize) -> Result<Item, PatternError> {
    let (method, over) = match text.split_once(':') {
        Some((method, over)) => (method, Some(over)),
        None => (text, None),
    };
    let check = Check::ALL.into_iter().find(|check| check.name() == method);
    let check = check.ok_or_else(|| unknown_check(method, at))?;
    let of_number = match over {
        None => false,
        Some("n") if !check.is_in_front() => true,
        Some("n") => {
            let reason =
                format!("{method} is computed over all that is behind it: leave out \":n\"");
            return Err(PatternError::new(at, reason));
        }
        Some(other) => {
            let reason = format!(
                "a check cannot be over {other:?}: write {{check:{method}}} for all that is before \
                 it, or {{check:{method}:n}} for the number alone"
            );
            return Err(PatternError::new(at, reason));
        }
    };
    Ok(Item::Check { check, of_number })
}

fn unknown_check(method: &str, at: usize) -> PatternError {
    let known = Check::ALL.map(Check::name).join(", ");
    PatternError::new(at, format!("there is no check {method:?}: there are {known}"))
}

fn unknown_field(text: &str, at: usize) -> PatternError {
    let dates = Field::ALL.map(Field::name);
    let known = ["n", "n:6", "n:4+", "scope", "check:damm"].into_iter().chain(dates);
    let wanted = text.to_lowercase();
    let likeness = |known: &str| {
        let likeness = strsim::normalized_damerau_levenshtein(&wanted, &known.to_lowercase());
        (likeness >= 0.5).then_some(likeness)
    };
    let likely = known.clone().filter_map(|known| Some((likeness(known)?, known)));
    let likely = likely.max_by(|(one, _), (other, _)| one.total_cmp(other));
    let hint = if let Some((_, likely)) = likely {
        format!("did you mean {{{likely}}}?")
    } else {
        let known: Vec<_> = known.map(|known| format!("{{{known}}}")).collect();
        format!("there are {}", known.join(" "))
    };
    PatternError::new(at, format!("there is no field {{{text}}}: {hint}"))
}
