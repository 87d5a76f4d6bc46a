//! Addresses as they may be shown: without their passwords.

/// What is shown of an address where it is unclear what in it is the password.
pub const UNCLEAR: &str = "(an address)";

/// An address of a server as it may be shown or logged: with the user, but without the password and
/// without the parameters, which may hold one.
///
/// ```
/// use uidring::store::without_password;
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
        return UNCLEAR.to_owned();
    };
    if hidden.contains('@') && rest.contains(':') {
        // Not the port and the parameters, perhaps, but two parts of a password.
        return format!("{scheme}://{UNCLEAR}");
    }
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or(user))
        }
        // What follows a host may be a port. Anything else may be the password of a user.
        None if ports(rest).any(|port| !port.bytes().all(|byte| byte.is_ascii_digit())) => {
            format!("{scheme}://{UNCLEAR}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

/// What follows the colon of each host, in an address without a user.
fn ports(rest: &str) -> impl Iterator<Item = &str> {
    let hosts = rest.split('/').next().unwrap_or(rest).split(',');
    hosts.filter_map(|host| {
        // In brackets there are colons, too.
        let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
        behind.split_once(':').map(|(_, port)| port)
    })
}

/// Nothing that may be a part of a password.
pub fn is_word(text: &str) -> bool {
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
            ("mysql://me:s@ec?ret@db/ids", "mysql://(an address)"),
            ("postgres://db/ids?user=me@here", "postgres://db/ids"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
