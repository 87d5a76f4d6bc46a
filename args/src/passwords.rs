//! Hides passwords in clap's messages, which repeat arguments.

use uidring::store::without_password;

/// `text` with [`without_password`] applied to each address in it.
pub fn without_passwords(text: &str) -> String {
    let word = |word: &str| {
        let Some(colon) = word.find("://") else { return word.to_owned() };
        // An address may follow an option, or stand in quotes.
        let start = word[..colon]
            .trim_end_matches(|character: char| character.is_ascii_alphanumeric())
            .len();
        let end = word
            .trim_end_matches(|character: char| character.is_whitespace() || character == '\'')
            .len();
        word[..start].to_owned() + &without_password(&word[start..end]) + &word[end..]
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::without_passwords;

    /// Addresses, and how each is shown.
    pub(crate) const ADDRESSES: [(&str, &str); 6] = [
        ("postgres://me:secret@db:5432/ids?sslmode=require", "postgres://me@db:5432/ids"),
        ("mysql://me:se@cret@db/ids", "mysql://me@db/ids"),
        ("mysql://me:sec?ret@db/ids", "mysql://(an address)"),
        ("mysql://me:sec#ret@db/ids", "mysql://(an address)"),
        ("mysql://me:sec/ret@db/ids", "mysql://me@db/ids"),
        ("postgres://db/ids?password=secret", "postgres://db/ids"),
    ];

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in ADDRESSES {
            let sentence = format!("unexpected argument '--bd={url}' found\n\nUsage: uidring");
            assert_eq!(without_passwords(&sentence), sentence.replace(url, shown));
        }
    }
}
