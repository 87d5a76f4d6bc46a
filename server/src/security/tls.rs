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
    current: RwLock<LoadedCertificate>,
}

/// When a certificate becomes valid, and when it expires.
#[derive(Clone, Copy)]
struct Validity {
    begins: SystemTime,
    ends: SystemTime,
}

/// A certificate with its matching key.
#[derive(Clone)]
struct LoadedCertificate {
    acceptor: TlsAcceptor,
    /// When the service's own certificate becomes valid and when it expires. It is the first one of
    /// the file. `None` if it cannot be parsed.
    own: Option<Validity>,
    /// When a certificate of the chain expires, whichever is the earliest. `None` if one of them
    /// cannot be parsed.
    ends: Option<SystemTime>,
}

impl std::fmt::Debug for LoadedCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Current").field("ends", &self.ends).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the certificate chain from one file and the private key from another.
    pub(crate) fn open(cert: &Path, key: &Path) -> Result<Tls, String> {
        let current = RwLock::new(LoadedCertificate::read(cert, key)?);
        Ok(Tls { cert: cert.to_owned(), key: key.to_owned(), current })
    }

    /// Reads both files again. If they are valid, new connections use them.
    pub(crate) fn read_again(&self) -> Result<(), String> {
        let new = LoadedCertificate::read(&self.cert, &self.key)?;
        // Clients may do without the others: authorities leave old ones at the end of a chain.
        let (now, cert) = (SystemTime::now(), self.cert.display());
        match new.own {
            Some(Validity { ends, .. }) if ends <= now => {
                return Err(format!("--tls-cert: {cert}: it ended at {}", text(ends)));
            }
            Some(Validity { begins, .. }) if begins > now => {
                let begins = text(begins);
                return Err(format!("--tls-cert: {cert}: it is not valid before {begins}"));
            }
            _ => {}
        }
        let is_another = new.ends != self.ends();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        if let Some(trouble) = self.trouble().filter(|_| is_another) {
            tracing::warn!("{trouble}");
        }
        Ok(())
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.loaded().acceptor
    }

    /// When a certificate of the chain expires, whichever is the earliest.
    pub(crate) fn ends(&self) -> Option<SystemTime> {
        self.loaded().ends
    }

    /// A warning about the certificate and those of its chain, if one has expired or soon will, or
    /// if the service's own is not valid yet.
    pub(crate) fn trouble(&self) -> Option<String> {
        let LoadedCertificate { own, ends, .. } = self.loaded();
        let (Some(own), Some(ends)) = (own, ends) else {
            return Some("nobody can tell when the certificate ends".to_owned());
        };
        if own.begins > SystemTime::now() {
            return Some(format!("the certificate is not valid before {}", text(own.begins)));
        }
        let of_own = trouble("the certificate", own.ends);
        of_own.or_else(|| trouble("a certificate of its chain", ends))
    }

    fn loaded(&self) -> LoadedCertificate {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LoadedCertificate {
    fn read(cert: &Path, key: &Path) -> Result<LoadedCertificate, String> {
        let wrong = |option: &str, path: &Path, problem: String| {
            format!("--{option}: {}: {problem}", path.display())
        };
        let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
            .and_then(Iterator::collect)
            .map_err(|error| wrong("tls-cert", cert, error.to_string()))?;
        if chain.is_empty() {
            return Err(wrong("tls-cert", cert, "it holds no certificate in PEM".to_owned()));
        }
        let all = chain.iter().map(|one| validity(one)).collect::<Option<Vec<_>>>();
        let ends = all.and_then(|all| all.into_iter().map(|one| one.ends).min());
        let own = chain.first().and_then(|own| validity(own));
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
        Ok(LoadedCertificate { acceptor: TlsAcceptor::from(Arc::new(config)), own, ends })
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

/// When the certificate is valid, if it can be parsed.
fn validity(certificate: &[u8]) -> Option<Validity> {
    let validity = Certificate::from_der(certificate).ok()?.tbs_certificate.validity;
    let (begins, ends) = (validity.not_before, validity.not_after);
    Some(Validity { begins: begins.to_system_time(), ends: ends.to_system_time() })
}

fn text(time: SystemTime) -> String {
    Timestamp::try_from(time).map(|time| time.to_string()).unwrap_or_default()
}
