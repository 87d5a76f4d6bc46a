//! TLS, if a certificate was named.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// Makes connections TLS ones.
#[derive(Clone)]
pub(crate) struct Acceptor(pub(crate) TlsAcceptor);

impl Acceptor {
    /// With the certificate and its chain in one file, and the private key in another.
    pub(crate) fn read(cert: &Path, key: &Path) -> Result<Acceptor, String> {
        let wrong = |option: &str, path: &Path, problem: String| {
            format!("--{option}: {}: {problem}", path.display())
        };
        let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
            .and_then(Iterator::collect)
            .map_err(|error| wrong("tls-cert", cert, error.to_string()))?;
        if chain.is_empty() {
            return Err(wrong("tls-cert", cert, "it holds no certificate in PEM".to_owned()));
        }
        let private = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| wrong("tls-key", key, error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("tls-cert", cert, error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| wrong("tls-key", key, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Acceptor(TlsAcceptor::from(Arc::new(config))))
    }
}
