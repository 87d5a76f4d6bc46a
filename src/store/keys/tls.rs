//! TLS to the servers: whom it trusts, and the certificate that they ask for.

use std::path::Path;

use rustls::{ClientConfig, RootCertStore, crypto};

use super::Error;
use super::address::Address;
use crate::pem;
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
    let mut roots = RootCertStore::empty();
    if let Some(path) = address.parameter("ca").map(Path::new) {
        for certificate in pem::certificates(path).map_err(Error::problem)? {
            roots.add(certificate).map_err(|error| Error::problem(pem::refused(path, &error)))?;
        }
    } else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    // Named, as a program may have several providers of cryptography and no default.
    let builder = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    #[allow(clippy::expect_used)] // of the two that are asked for, both are there
    let builder = builder.expect("ring has the default protocol versions");
    let builder = builder.with_root_certificates(roots);
    let config = match (address.parameter("cert"), address.parameter("key")) {
        (None, None) => builder.with_no_client_auth(),
        (Some(certificate), Some(path)) => {
            let certificate = Path::new(certificate);
            let chain = pem::certificates(certificate).map_err(Error::problem)?;
            let key = pem::private_key(Path::new(path)).map_err(Error::problem)?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| Error::problem(pem::refused(certificate, &error)))?
        }
        _ => {
            return Err(Error::problem(
                "its address names a certificate or a key alone; cert= and key= belong together",
            ));
        }
    };
    Ok(Some(Arc::new(config)))
}
