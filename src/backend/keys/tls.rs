//! TLS to the servers: whom it trusts, and the certificate that they ask for.

use std::path::PathBuf;

use rustls::ClientConfig;

use super::Error;
use crate::backend::address::key_server::Address;
use crate::backend::tls::Tls;
use crate::sync::Arc;

/// The parameters of an address that are about TLS.
pub const PARAMETERS: [&str; 3] = ["ca", "cert", "key"];

/// TLS as the `address` has it; `None` unless it begins with `scheme`.
pub fn config(address: &Address, scheme: &str) -> Result<Option<Arc<ClientConfig>>, Error> {
    if address.scheme != scheme {
        if PARAMETERS.iter().any(|name| address.parameter(name).is_some()) {
            return Err(Error::problem(format!(
                "its address names certificates, which are used if it begins with {scheme}://; \
                 begin it with {scheme}://, or leave them out"
            )));
        }
        return Ok(None);
    }
    let file = |name| address.parameter(name).map(PathBuf::from);
    let identity = match (file("cert"), file("key")) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some((certificate, key)),
        _ => {
            return Err(Error::problem(
                "its address names a certificate or a key alone; cert= and key= belong together",
            ));
        }
    };
    let tls = Tls { authority: file("ca"), identity, takes_any_name: false };
    Ok(Some(Arc::new(tls.config().map_err(Error::problem)?)))
}
