//! TLS with a certificate that can be reloaded.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// A certificate that expires within this time causes a warning.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// Accepts TLS connections. The certificate can be reloaded.
#[derive(Debug)]
pub(crate) struct Tls {
    cert: PathBuf,
    key: PathBuf,
    current: RwLock<Current>,
}

/// A certificate with its matching key.
#[derive(Clone)]
struct Current {
    acceptor: TlsAcceptor,
    /// When the service's own certificate expires, which is the first one of the file. `None` if it
    /// cannot be parsed.
    own_ends: Option<SystemTime>,
    /// When a certificate of the chain expires, whichever is the earliest. `None` if one of them
    /// cannot be parsed.
    ends: Option<SystemTime>,
}

impl std::fmt::Debug for Current {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Current").field("ends", &self.ends).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the certificate chain from one file and the private key from another.
    pub(crate) fn open(cert: &Path, key: &Path) -> Result<Tls, String> {
        let current = RwLock::new(Current::read(cert, key)?);
        Ok(Tls { cert: cert.to_owned(), key: key.to_owned(), current })
    }

    /// Reads both files again. If they are valid, new connections use them.
    pub(crate) fn read_again(&self) -> Result<(), String> {
        let new = Current::read(&self.cert, &self.key)?;
        // Clients may do without the others: authorities leave old ones at the end of a chain.
        if let Some(ends) = new.own_ends.filter(|&ends| ends <= SystemTime::now()) {
            return Err(format!("--tls-cert: {}: it ended at {}", self.cert.display(), text(ends)));
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        if let Some(trouble) = self.trouble() {
            tracing::warn!("{trouble}");
        }
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.current().acceptor
    }

    /// When a certificate of the chain expires, whichever is the earliest.
    pub(crate) fn ends(&self) -> Option<SystemTime> {
        self.current().ends
    }

    /// A warning about the certificate and those of its chain, if one has expired or soon will.
    pub(crate) fn trouble(&self) -> Option<String> {
        let Current { own_ends, ends, .. } = self.current();
        let (Some(own_ends), Some(ends)) = (own_ends, ends) else {
            return Some("nobody can tell when the certificate ends".to_owned());
        };
        let of_own = trouble("the certificate", own_ends);
        of_own.or_else(|| trouble("a certificate of its chain", ends))
    }

    fn current(&self) -> Current {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Current {
    fn read(cert: &Path, key: &Path) -> Result<Current, String> {
        let wrong = |option: &str, path: &Path, problem: String| {
            format!("--{option}: {}: {problem}", path.display())
        };
        let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
            .and_then(Iterator::collect)
            .map_err(|error| wrong("tls-cert", cert, error.to_string()))?;
        if chain.is_empty() {
            return Err(wrong("tls-cert", cert, "it holds no certificate in PEM".to_owned()));
        }
        let ends = chain.iter().map(|one| end(one)).collect::<Option<Vec<_>>>();
        let ends = ends.and_then(|ends| ends.into_iter().min());
        let own_ends = chain.first().and_then(|own| end(own));
        let private = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| wrong("tls-key", key, error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("tls-cert", cert, error.to_string()))?
            .with_no_client_auth()
            // This also checks that the key matches the certificate.
            .with_single_cert(chain, private)
            .map_err(|error| wrong("tls-key", key, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Current { acceptor: TlsAcceptor::from(Arc::new(config)), own_ends, ends })
    }
}

/// A warning about `certificate`, if it has expired or soon will.
fn trouble(certificate: &str, ends: SystemTime) -> Option<String> {
    match ends.duration_since(SystemTime::now()) {
        Err(_) => Some(format!("{certificate} ended at {}", text(ends))),
        Ok(left) if left < SOON => Some(format!("{certificate} ends at {}", text(ends))),
        Ok(_) => None,
    }
}

/// When the certificate expires, if it can be parsed.
fn end(certificate: &[u8]) -> Option<SystemTime> {
    let certificate = Certificate::from_der(certificate).ok()?;
    Some(certificate.tbs_certificate.validity.not_after.to_system_time())
}

fn text(time: SystemTime) -> String {
    Timestamp::try_from(time).map(|time| time.to_string()).unwrap_or_default()
}
