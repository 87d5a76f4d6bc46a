//! The `search_path` in the address of a PostgreSQL server.

/// The `search_path` that the server's options in an address name, read as the server reads them:
/// `-c name=value` or `--name=value`, with a backslash in front of a space that is no end.
pub fn from_options(options: &str) -> Option<String> {
    let mut words = vec![String::new()];
    let mut letters = options.chars();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_whitespace() {
            words.push(String::new());
        } else if let (Some(word), Some(letter)) =
            (words.last_mut(), if letter == '\\' { letters.next() } else { Some(letter) })
        {
            word.push(letter);
        }
    }
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    let mut found = None;
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("-c").or_else(|| word.strip_prefix("--")) {
            Some("") => words.next().unwrap_or_default(),
            Some(setting) => setting.to_owned(),
            None => continue,
        };
        if let Some((name, value)) = setting.split_once('=')
            && name.replace('-', "_").eq_ignore_ascii_case("search_path")
        {
            found = Some(value.to_owned());
        }
    }
    found
}

/// The first schema of a `search_path`, as it is written there.
pub fn first_schema(search_path: &str) -> &str {
    let mut is_quoted = false;
    let end = search_path.find(|letter| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    &search_path[..end.unwrap_or(search_path.len())]
}

/// The statement that sets the `search_path` of one transaction.
pub fn set_statement(search_path: &str) -> String {
    let text = search_path.replace('\\', r"\\").replace('\'', "''");
    format!("SELECT set_config('search_path', E'{text}', true);")
}

#[cfg(test)]
mod tests {
    use super::{first_schema, from_options};

    #[test]
    fn a_search_path_is_found_among_the_options_of_an_address() {
        for (options, found) in [
            ("", None),
            ("-cstatement_timeout=100 -e", None),
            ("-csearch_path=ids", Some("ids")),
            ("-c  search_path=ids -cgeqo=off", Some("ids")),
            ("--search-path=a,b -c", Some("a,b")),
            ("-cSearch_Path=a -csearch_path=b", Some("b")),
            (r#"-csearch_path=a,\ "\\b""#, Some(r#"a, "\b""#)),
        ] {
            assert_eq!(from_options(options).as_deref(), found, "{options}");
        }
    }

    #[test]
    fn the_first_schema_of_a_search_path_may_be_quoted() {
        for (path, first) in [("a", "a"), ("a, b", "a"), (r#""a,""b",c"#, r#""a,""b""#), ("", "")] {
            assert_eq!(first_schema(path), first, "{path}");
        }
    }
}
