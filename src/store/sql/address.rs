//! Addresses of servers: what they look like, the files that they name, and how they are shown
//! without passwords.

#[cfg(any(feature = "mysql", feature = "postgres"))]
use std::path::{Path, PathBuf};

#[cfg(any(feature = "mysql", feature = "postgres"))]
use rustls::pki_types::CertificateDer;
#[cfg(any(feature = "mysql", feature = "postgres"))]
use rustls::pki_types::pem::PemObject;

#[cfg(any(feature = "mysql", feature = "postgres"))]
use super::Error;

/// An address of a server as it may be shown or logged: with the user, but without the password and
/// without the parameters, which may hold one.
///
/// ```
/// use uidring::registry::without_password;
///
/// let address = "postgres://orders:secret@db.example.com:5432/orders?sslmode=require";
/// assert_eq!(without_password(address), "postgres://orders@db.example.com:5432/orders");
/// // Anything else may be a list of keys and values, with a password among them.
/// assert_eq!(without_password("host=db password=secret"), "(an address)");
/// ```
#[must_use]
pub fn without_password(address: &str) -> String {
    let (url, hidden) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| is_word(scheme)) else {
        return "(an address)".to_owned();
    };
    if hidden.contains('@') && rest.contains(':') && !rest.contains('@') {
        // Not the port and the parameters, perhaps, but the two ends of a password.
        return format!("{scheme}://(an address)");
    }
    let (user, host) =
        rest.rsplit_once('@').map_or((None, rest), |(user, host)| (Some(user), host));
    let user = user.map(|user| user.split(':').next().unwrap_or(user));
    user.map_or_else(|| format!("{scheme}://{host}"), |user| format!("{scheme}://{user}@{host}"))
}

/// What an address of a kind of server looks like.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub struct Form {
    pub database: &'static str,
    pub schemes: &'static [&'static str],
    pub example: &'static str,
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
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

#[cfg(any(feature = "mysql", feature = "postgres"))]
pub const NO_HOST: &str = "it names no host; write localhost for a server on this machine";

/// Takes the parameter `name`, which is the path of a file, out of `url`.
///
/// The drivers know no such parameter and would refuse the address.
#[cfg(any(feature = "mysql", feature = "postgres"))]
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
#[cfg(any(feature = "mysql", feature = "postgres"))]
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

/// The certificates of authorities in the file `path`, in PEM: at least one.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let refuse = |problem: &str| Error::problem(format!("{}: {problem}", path.display()));
    let file = CertificateDer::pem_file_iter(path).map_err(|error| refuse(&error.to_string()))?;
    let certificates: Vec<_> =
        file.collect::<Result<_, _>>().map_err(|error| refuse(&error.to_string()))?;
    if certificates.is_empty() {
        return Err(refuse("it holds no certificate"));
    }
    Ok(certificates)
}

/// Nothing that may be a part of a password.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::without_password;

    #[cfg(any(feature = "mysql", feature = "postgres"))]
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

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://me:secret@db:5432/ids?sslmode=require", "postgres://me@db:5432/ids"),
            ("mysql://me:se@cret@db/ids", "mysql://me@db/ids"),
            ("postgres://db/ids?user=me&password=secret", "postgres://db/ids"),
            ("postgres:///ids", "postgres:///ids"),
            ("host=db password=secret", "(an address)"),
            ("host=db password=sec://ret", "(an address)"),
            ("postgres://me:sec?ret@db/ids", "postgres://(an address)"),
            ("mysql://me:sec#ret@db/ids", "mysql://(an address)"),
            ("postgres://db/ids?user=me@here", "postgres://db/ids"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
