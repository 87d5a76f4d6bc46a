//! Certificates and private keys in files, in PEM.

use std::fmt;
use std::path::Path;

use rustls::pki_types::CertificateDer;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::{self, PemObject};

/// The certificates in the file `path`, at least one, or why there are none.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let refuse = |error: pem::Error| refused(path, &message(&error));
    let file = CertificateDer::pem_file_iter(path).map_err(refuse)?;
    let certificates: Vec<_> = file.collect::<Result<_, _>>().map_err(refuse)?;
    if certificates.is_empty() {
        return Err(refused(path, &"it holds no certificate"));
    }
    Ok(certificates)
}

/// The private key in the file `path`, or why there is none.
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper"))]
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| {
        let is_encrypted = std::fs::read(path)
            .is_ok_and(|text| String::from_utf8_lossy(&text).contains("ENCRYPTED"));
        if is_encrypted {
            let why = "its private key is encrypted, and is read without a password here; write it \
                       decrypted, by openssl pkey -in KEY -out NEW";
            return refused(path, &why);
        }
        refused(path, &message(&error))
    })
}

/// What is wrong with the file `path`, as a sentence.
pub fn refused(path: &Path, why: &dyn fmt::Display) -> String {
    format!("{}: {why}", path.display())
}

/// The error in words that show nothing of a key.
fn message(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => "it holds no private key".to_owned(),
        _ => "it is no file in PEM".to_owned(),
    }
}

#[cfg(all(
    test,
    any(feature = "mysql", feature = "postgres", feature = "redis", feature = "zookeeper")
))]
#[allow(clippy::unwrap_used)]
mod tests {
    /// A key as `openssl genpkey -aes256` writes it.
    #[test]
    fn an_encrypted_key_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key.pem");
        for name in ["ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY"] {
            let head = if name.starts_with("RSA") { "Proc-Type: 4,ENCRYPTED\n\n" } else { "" };
            let text = format!("-----BEGIN {name}-----\n{head}AAAA\n-----END {name}-----\n");
            std::fs::write(&key, text).unwrap();
            let error = super::private_key(&key).unwrap_err();
            assert!(error.contains("its private key is encrypted"), "{error}");
        }
    }
}
