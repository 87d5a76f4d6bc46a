//! Characters in a user or a password that mean something else in an address.

/// What to do about a user or a password that the address cannot be read with.
pub const ESCAPES: &str = "if its user or password has one of /, @, #, ?, : and %, write \
                                  these as %2F, %40, %23, %3F, %3A and %25";

/// What is wrong with the address of a server whose user or password has a character that means
/// something else there, if it shows. Nothing of the address is in it, as that may be a part of the
/// password.
pub fn escape_problem(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (place, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (path, parameters) = behind.split_at(behind.find('?').unwrap_or(behind.len()));
    let user = place.rsplit_once('@').map(|(user, _)| user);
    if user.is_some_and(|user| user.contains('@')) || path.contains('@') || rest.contains('#') {
        return Some(format!("{ESCAPES}; any @ or # behind the host is written so, too"));
    }
    // A host and a port, perhaps, or a user and the first part of a password.
    if parameters.contains('@') && user.is_none() && place.contains(':') {
        return Some(format!("{ESCAPES}; any @ behind the host is written so, too"));
    }
    let mut pieces = user?.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_owned();
    for piece in pieces {
        let digits = piece.get(..2).filter(|two| two.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            return Some(ESCAPES.to_owned());
        };
        bytes.push(byte);
        bytes.extend(&piece.as_bytes()[2..]);
    }
    let is_text = String::from_utf8(bytes).is_ok();
    (!is_text).then(|| format!("{ESCAPES}; as they are, its escapes are no text in UTF-8"))
}

#[cfg(test)]
#[allow(clippy::panic)] // a test that cannot go on has failed
mod tests {
    use super::escape_problem;

    #[test]
    fn a_character_that_ends_a_password_is_told() {
        for rest in [
            "t:p@ss/w:rd@host/ids",
            "t:p/ss@host/ids",
            "t:p@ss@host/ids",
            "t@x:p@host",
            "t:p#ss@host/ids",
            "t:p?ss@host/ids",
            "t:p/s?s@host/ids",
            "t:p?s/s@host/ids",
            "t:100%@host/ids",
            "t:100%2@host/ids",
            "t:100%zz@host/ids",
            "t:p%+1@host/ids",
            "t:p%\u{e9}@host/ids",
            "t:p%ff@host/ids",
            "t:p@ss@h1:1,h2:2/ids",
            "t:p/ss@h1:1,h2:2/ids",
            ":p#ss@h1,h2",
            "t:pss@host/i@ds",
            "t:pss@host/ids#x",
        ] {
            for scheme in ["postgres", "mysql", "etcds", "zookeeper", "redis"] {
                let problem = escape_problem(&format!("{scheme}://{rest}"));
                let problem = problem.unwrap_or_else(|| panic!("{rest}"));
                assert!(
                    problem.starts_with("if its user or password has one of /, @, #, ?, : and")
                );
            }
        }
        for good in [
            "t:p%40ss%2Fw%3ard%C3%A9@host/ids?x=a@b",
            "t:p:ss@host/ids",
            "t:p+&=!$,;@h1:1,[::1]:2/ids",
            "host:5432/ids?passfile=/a%",
            "host/ids?user=me@here",
            "t@host",
            ":@host",
            "",
        ] {
            assert_eq!(escape_problem(&format!("mysql://{good}")), None, "{good}");
        }
    }
}
