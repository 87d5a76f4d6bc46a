//! Addresses of servers: what they look like, and the parameters that drivers do not know.

use std::path::PathBuf;

use super::escapes::escape_problem;
use super::redaction::is_word;
use crate::backend::sql::Error;

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
            Some((scheme, _)) if schemes.contains(&scheme) => escape_problem(url),
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

/// The parameters of an address, of which some are not the driver's: it would refuse them.
pub struct Parameters {
    /// What stands before them.
    place: String,
    /// Each with its value, as they are written.
    rest: Vec<String>,
}

impl Parameters {
    pub fn of(url: &str) -> Parameters {
        let (place, rest) = url.rsplit_once('?').unwrap_or((url, ""));
        let rest = rest.split('&').filter(|parameter| !parameter.is_empty());
        Parameters { place: place.to_owned(), rest: rest.map(str::to_owned).collect() }
    }

    /// Takes the parameter with one of these `names` out, decoded. Of several, the first counts.
    pub fn take(&mut self, names: &[&str]) -> Option<String> {
        let value_of = |parameter: &String| {
            let (name, value) = parameter.split_once('=')?;
            names.contains(&name).then(|| decoded(value))
        };
        let value = self.rest.iter().find_map(value_of)?;
        self.rest.retain(|parameter| value_of(parameter).is_none());
        Some(value)
    }

    /// The same, where the value is the path of a file.
    pub fn take_file(&mut self, names: &[&str]) -> Result<Option<PathBuf>, Error> {
        let path = self.take(names);
        if path.as_deref() == Some("") {
            let name = names[0];
            return Err(Error::problem(format!("{name} names no file; see the address")));
        }
        Ok(path.map(PathBuf::from))
    }

    /// The same for a certificate and its key, which belong together.
    pub fn take_identity(
        &mut self,
        certificate: &[&str],
        key: &[&str],
    ) -> Result<Option<(PathBuf, PathBuf)>, Error> {
        match (self.take_file(certificate)?, self.take_file(key)?) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            _ => Err(Error::problem(format!(
                "its address has one of {certificate} and {key} without the other; name both files",
                certificate = certificate[0],
                key = key[0],
            ))),
        }
    }

    /// Takes `name=yes` out, which permits what is refused without it.
    pub fn take_flag(&mut self, name: &str) -> Result<bool, Error> {
        super::permits(name, self.take(&[name]).as_deref())
    }

    /// Whether there is one of these `names`.
    #[cfg(feature = "mysql")]
    pub fn has(&self, names: &[&str]) -> bool {
        let name = |parameter: &String| parameter.split('=').next().map(str::to_owned);
        self.rest.iter().filter_map(name).any(|name| names.contains(&name.as_str()))
    }

    /// Adds one for the driver.
    #[cfg(feature = "mysql")]
    pub fn add(&mut self, parameter: &str) {
        self.rest.push(parameter.to_owned());
    }

    /// The address with what is left.
    pub fn url(&self) -> String {
        let Parameters { place, rest } = self;
        if rest.is_empty() { place.clone() } else { format!("{place}?{}", rest.join("&")) }
    }
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
    use super::Parameters;

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
            let mut parameters = Parameters::of(url);
            let path = parameters.take_file(&["c_a", "ca"]).unwrap();
            assert_eq!(
                (parameters.url().as_str(), path.as_deref()),
                (rest, file.map(std::path::Path::new))
            );
        }
        Parameters::of("postgres://db/ids?ca=").take_file(&["ca"]).unwrap_err();
    }

    #[test]
    fn a_certificate_has_a_key_and_a_permission_is_a_yes() {
        let identity = |url: &str| Parameters::of(url).take_identity(&["cert"], &["key"]);
        assert_eq!(identity("postgres://db/ids?a=1").unwrap(), None);
        assert!(identity("postgres://db/ids?cert=a&key=b").unwrap().is_some());
        for half in ["cert=a", "key=b", "cert=&key=b"] {
            identity(&format!("postgres://db/ids?{half}")).unwrap_err();
        }
        let is_untried = |url: &str| Parameters::of(url).take_flag("untried");
        assert!(!is_untried("postgres://db/ids").unwrap());
        assert!(is_untried("postgres://db/ids?untried=yes").unwrap());
        for other in ["untried=", "untried=no", "untried=true"] {
            is_untried(&format!("postgres://db/ids?{other}")).unwrap_err();
        }
    }
}
