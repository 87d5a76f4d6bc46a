//! Addresses of servers: what they look like, and the files that they name.

use std::path::PathBuf;

use super::Error;
use crate::store::address::is_word;

/// What an address of a kind of server looks like.
pub struct Form {
    pub database: &'static str,
    pub schemes: &'static [&'static str],
    pub example: &'static str,
}

impl Form {
    /// What is wrong with `url`, as a sentence about it, if it does not begin as an address does.
    pub fn problem(&self, url: &str) -> Option<String> {
        let Form { database, schemes, example } = self;
        match url.split_once("://") {
            Some((scheme, _)) if schemes.contains(&scheme) => None,
            Some((scheme, _)) if is_word(scheme) => {
                let right = schemes[0];
                Some(format!(
                    "it begins with {scheme}://, and an address of {database} with {right}://"
                ))
            }
            _ if url.trim().is_empty() => {
                Some(format!("it is empty; an address is such as {example}"))
            }
            _ if url.split_once('=').is_some_and(|(key, _)| is_word(key.trim())) => Some(format!(
                "it is a list of keys and values; write it as an address, such as {example}"
            )),
            _ => Some(format!("it is not an address such as {example}")),
        }
    }
}

pub const NO_HOST: &str = "it names no host; write localhost for a server on this machine";

/// Takes the parameter `name`, which is the path of a file, out of `url`.
///
/// The drivers know no such parameter and would refuse the address.
pub fn take_file(url: &str, name: &str) -> Result<(String, Option<PathBuf>), Error> {
    let Some((address, parameters)) = url.rsplit_once('?') else {
        return Ok((url.to_owned(), None));
    };
    let value_of = |parameter: &str| {
        let (key, value) = parameter.split_once('=')?;
        (key == name).then(|| decoded(value))
    };
    let Some(path) = parameters.split('&').find_map(value_of) else {
        return Ok((url.to_owned(), None));
    };
    if path.is_empty() {
        return Err(Error::problem(format!("{name} names no file; see the address")));
    }
    let others = parameters.split('&').filter(|parameter| value_of(parameter).is_none());
    let others = others.collect::<Vec<_>>().join("&");
    let url = if others.is_empty() { address.to_owned() } else { format!("{address}?{others}") };
    Ok((url, Some(PathBuf::from(path))))
}

/// `text` with each `%20` and the like decoded.
fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_owned();
    for piece in pieces {
        let byte = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = byte {
            bytes.push(byte);
            bytes.extend(&piece.as_bytes()[2..]);
        } else {
            bytes.push(b'%');
            bytes.extend(piece.as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    #[test]
    fn a_file_is_taken_out_of_the_parameters() {
        for (url, rest, file) in [
            ("postgres://db/ids", "postgres://db/ids", None),
            ("postgres://db/ids?a=1&xca=2", "postgres://db/ids?a=1&xca=2", None),
            ("postgres://db/ids?ca=x.pem", "postgres://db/ids", Some("x.pem")),
            (
                "postgres://me:p?w@db/ids?a=1&ca=x&b=2",
                "postgres://me:p?w@db/ids?a=1&b=2",
                Some("x"),
            ),
            ("postgres://db?ca=/a%20b/%C3%BC%&c", "postgres://db?c", Some("/a b/\u{fc}%")),
        ] {
            let (found, path) = super::take_file(url, "ca").unwrap();
            assert_eq!((found.as_str(), path.as_deref()), (rest, file.map(std::path::Path::new)));
        }
        super::take_file("postgres://db/ids?ca=", "ca").unwrap_err();
    }
}
