//! Hides passwords in clap's messages, which repeat arguments.

use uidring::store::without_password;

/// `text` with [`without_password`] applied to each address in it.
pub fn without_passwords(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(colon) = rest.find("://") {
        // An address may follow an option, or stand in quotes.
        let is_scheme = |character: char| character.is_ascii_alphanumeric();
        let start = rest[..colon].trim_end_matches(is_scheme).len();
        let line = rest[..start].rsplit('\n').next().unwrap_or_default();
        let is_quoted = line.matches('\'').count() % 2 == 1;
        let address = &rest[start..];
        // A password may have a blank in it.
        let end = if is_quoted { quoted(address) } else { address.find(char::is_whitespace) };
        let end = end.unwrap_or(address.len());
        shown += &rest[..start];
        shown += &without_password(&address[..end]);
        rest = &address[end..];
    }
    shown + rest
}

/// Where the quotes around the start of a text end. In a password, a letter may follow a quote.
fn quoted(text: &str) -> Option<usize> {
    let mut quotes = text.match_indices('\'').map(|(at, _)| at);
    quotes.find(|at| !text[at + 1..].starts_with(char::is_alphanumeric))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::without_passwords;

    /// Addresses, and how each is shown.
    pub(crate) const ADDRESSES: [(&str, &str); 9] = [
        ("postgres://me:secret@db:5432/ids?sslmode=require", "postgres://me@db:5432/ids"),
        ("mysql://me:se@cret@db/ids", "mysql://me@db/ids"),
        ("mysql://me:sec?ret@db/ids", "mysql://(an address)"),
        ("mysql://me:sec#ret@db/ids", "mysql://(an address)"),
        ("mysql://me:sec/ret@db/ids", "mysql://me@db/ids"),
        ("mysql://me:sec ret@db/ids", "mysql://me@db/ids"),
        ("mysql://me:sec're t@db/ids", "mysql://me@db/ids"),
        ("mysql://me:secret", "mysql://(an address)"),
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
