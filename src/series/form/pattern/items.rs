//! The text of a pattern, taken apart.

use super::super::check_characters::Check;
use super::super::error::PatternError;
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
    /// The number, in so many digits, or in as many as it needs.
    Number {
        width: Option<u8>,
    },
    Check(Check),
}

impl Item {
    /// How many bytes of text it makes, or `None` if that differs.
    pub fn width(&self) -> Option<usize> {
        match self {
            Item::Literal(text) => Some(text.len()),
            Item::Date(field) => Some(field.width()),
            Item::Scope => None,
            Item::Number { width } => width.map(usize::from),
            Item::Check(check) => Some(check.width()),
        }
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
    let is_bad = |c: char| !(c.is_ascii_graphic() || c == ' ');
    if let Some((at, c)) = text.char_indices().find(|&(_, c)| is_bad(c)) {
        let reason = format!("a pattern cannot have {c:?}: use printable characters of ASCII");
        return Err(PatternError::new(at, reason));
    }
    if text.len() > MAX_PATTERN {
        let reason = format!(
            "a pattern cannot have {} characters: it has at most {MAX_PATTERN}",
            text.len()
        );
        return Err(PatternError::new(MAX_PATTERN, reason));
    }
    if let Some(at) = [0, text.len() - 1].into_iter().find(|&at| text.as_bytes()[at] == b' ') {
        let reason = "a number cannot begin or end with a space, which is lost where it is copied";
        return Err(PatternError::new(at, reason));
    }
    let mut items: Vec<Placed> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + 1..];
        let (piece, end) = match c {
            '{' | '}' if rest.starts_with(c) => (c, at + 2),
            '{' => {
                let end = at + 1 + rest.find('}').ok_or_else(|| unclosed(at))?;
                let item = field(&text[at + 1..end], at)?;
                items.push(Placed { item, at, end: end + 1 });
                at = end + 1;
                continue;
            }
            '}' => {
                let reason = "this brace closes nothing: write }} for a brace in the text";
                return Err(PatternError::new(at, reason));
            }
            c => (c, at + 1),
        };
        match items.last_mut() {
            Some(Placed { item: Item::Literal(text), end: last, .. }) => {
                let mut longer = std::mem::take(text).into_string();
                longer.push(piece);
                *text = longer.into();
                *last = end;
            }
            _ => items.push(Placed { item: Item::Literal(piece.to_string().into()), at, end }),
        }
        at = end;
    }
    Ok(items)
}

fn unclosed(at: usize) -> PatternError {
    PatternError::new(at, "this brace is not closed: write {{ for a brace in the text")
}

/// The field with this text between its braces.
fn field(text: &str, at: usize) -> Result<Item, PatternError> {
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (text, None),
    };
    let more = &text[name.len()..];
    match (name, argument) {
        ("n", None) => return Ok(Item::Number { width: None }),
        ("n", Some(width)) => return Ok(Item::Number { width: Some(number_width(width, at)?) }),
        ("scope", None) => return Ok(Item::Scope),
        ("check", Some(method)) => {
            let found = Check::ALL.into_iter().find(|check| check.name() == method);
            return found.map(Item::Check).ok_or_else(|| unknown_check(method, at));
        }
        ("check", None) => return Err(unknown_check("", at)),
        _ => {}
    }
    let found = Field::ALL.into_iter().find(|field| field.name() == name);
    match (found, argument) {
        (Some(field), None) => Ok(Item::Date(field)),
        (Some(_), Some(_)) => {
            let reason = format!("{{{name}}} has a width of its own: leave out {more:?}");
            Err(PatternError::new(at, reason))
        }
        (None, _) if name == "scope" => {
            let reason = format!("{{scope}} is as long as the scope: leave out {more:?}");
            Err(PatternError::new(at, reason))
        }
        (None, _) => Err(unknown_field(text, at)),
    }
}

fn number_width(text: &str, at: usize) -> Result<u8, PatternError> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let width = text.parse().ok().filter(|width| is_plain && (1..=MAX_WIDTH).contains(width));
    width.ok_or_else(|| {
        let reason = format!(
            "{text:?} is not the width of a number: use 1 to {MAX_WIDTH}, without a zero in front"
        );
        PatternError::new(at, reason)
    })
}

fn unknown_check(method: &str, at: usize) -> PatternError {
    let known = Check::ALL.map(Check::name).join(", ");
    PatternError::new(at, format!("there is no check {method:?}: there are {known}"))
}

fn unknown_field(text: &str, at: usize) -> PatternError {
    let dates = Field::ALL.map(Field::name);
    let known = ["n", "n:6", "scope", "check:damm"].into_iter().chain(dates);
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
