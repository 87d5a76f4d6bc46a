//! Which characters the literal text of a pattern can have.
//!
//! A text is refused where people or programs could take it for another one: where it has a second
//! spelling, where something in it is not seen, or where it looks like something else.

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use super::super::error::PatternError;

/// Whether each character of a pattern can stand in literal text, and the text has one spelling.
pub fn check(text: &str) -> Result<(), PatternError> {
    for (at, c) in text.char_indices() {
        if let Some(problem) = problem(c) {
            return Err(PatternError::new(at, format!("a pattern cannot have {c:?}: {problem}")));
        }
    }
    if is_nfc(text) {
        return Ok(());
    }
    let normal: String = text.nfc().collect();
    let differs = text.char_indices().zip(normal.chars()).find(|((_, one), other)| one != other);
    let at = differs.map_or(0, |((at, _), _)| at);
    let reason = format!(
        "this text has a second spelling, {normal:?}, which looks the same and is another text: \
         write that one"
    );
    Err(PatternError::new(at, reason))
}

/// Whether literal text can begin with this character, which is written behind a field.
pub fn check_first(c: char, at: usize) -> Result<(), PatternError> {
    if c.general_category_group() != GeneralCategoryGroup::Mark && canonical_combining_class(c) == 0
    {
        return Ok(());
    }
    let reason = format!("{c:?} is a mark on the character before it: put a letter in front");
    Err(PatternError::new(at, reason))
}

/// Why a character cannot be in literal text.
fn problem(c: char) -> Option<String> {
    if c.is_ascii_graphic() || c == ' ' {
        return None;
    }
    if c.is_ascii() || !is_seen(c) {
        return Some("it cannot be printed, or is not seen".to_owned());
    }
    if c.is_numeric() {
        return Some(
            "it looks like a number: use the digits 0 to 9, in fields or alone".to_owned(),
        );
    }
    if is_right_to_left(c) {
        let why = "it is written from right to left, and the parts of the number would be seen in \
                   another order: use letters that are written from left to right";
        return Some(why.to_owned());
    }
    likeness(c).map(|like| format!("it looks like {like:?}: write that one"))
}

/// Whether a reader sees the character, itself or as a mark on another one.
fn is_seen(c: char) -> bool {
    let is_printed = match c.general_category_group() {
        GeneralCategoryGroup::Separator | GeneralCategoryGroup::Other => false,
        GeneralCategoryGroup::Mark => c.general_category() != GeneralCategory::EnclosingMark,
        _ => true,
    };
    // Those of Unicode's Default_Ignorable_Code_Point that are no controls, and the Braille pattern
    // without a dot.
    let is_ignored = matches!(
        c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    );
    is_printed && !is_ignored
}

/// Whether the character is in a block that Unicode keeps for scripts from right to left, see
/// `DerivedBidiClass.txt`.
fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

/// The one character of ASCII that this one is a variant of or, if it is a dash, looks like.
fn likeness(c: char) -> Option<char> {
    const MINUS: char = '\u{2212}';
    if c == MINUS || c.general_category() == GeneralCategory::DashPunctuation {
        return Some('-');
    }
    let mut plain = std::iter::once(c).nfkc();
    match (plain.next(), plain.next()) {
        (Some(like), None) if like.is_ascii() => Some(like),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character that literal text can have stays what it is between others.
    #[test]
    fn what_is_allowed_has_one_spelling_beside_any_character_of_ascii() {
        let allowed: Vec<char> = ('\0'..=char::MAX).filter(|&c| problem(c).is_none()).collect();
        assert!(allowed.len() > 100_000, "{}", allowed.len());
        for c in allowed {
            if check_first(c, 0).is_ok() && is_nfc(&c.to_string()) {
                let text: String = ('<'..='Z').flat_map(|other| [other, c]).collect();
                assert!(is_nfc(&text), "{text:?}");
            }
        }
    }
}
