//! Addresses of servers: what they look like, and how they are shown without passwords.

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

/// Nothing that may be a part of a password.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::without_password;

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
