//! What to do where TLS to a server came to nothing.

use std::error::Error as StdError;
use std::io;

use rustls::{CertificateError, Error};

/// The parameters that an address of a kind of server has for TLS.
#[derive(Debug)]
pub struct TlsWords {
    /// Names the authority.
    pub authority: &'static str,
    /// Names the client's certificate and its key.
    pub identity: &'static str,
    /// Takes a certificate for any name.
    pub any_name: &'static str,
    /// What to do about a server's certificate that is an authority's.
    pub is_authority: &'static str,
}

impl TlsWords {
    /// What to do about this `error`.
    pub fn problem(&self, error: &Error) -> String {
        let TlsWords { authority, identity, any_name, is_authority } = self;
        match error {
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => format!(
                "see the server's certificate: its authority is not known here; name that in the \
                 address by {authority}"
            ),
            Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => format!(
                "see the server's certificate: it is for another name than the one in the address; \
                 write a name there that it is for, or {any_name}, which takes any"
            ),
            Error::InvalidCertificate(
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
            ) => "see the server's certificate: it has expired or is not valid yet; have it \
                  renewed, or set this machine's clock"
                .to_owned(),
            // There is no other word for it.
            Error::InvalidCertificate(CertificateError::Other(_))
                if error.to_string().contains("CaUsedAsEndEntity") =>
            {
                format!("see the server's certificate: {is_authority}")
            }
            Error::InvalidCertificate(_) => "see the server's certificate".to_owned(),
            Error::AlertReceived(_) => format!(
                "the server broke TLS off; if it asks for a certificate, name one that it trusts \
                 in the address by {identity}"
            ),
            _ => "see that the server speaks TLS 1.2 or 1.3 at this port".to_owned(),
        }
    }
}

/// The error of TLS behind this one, if there is one.
pub fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // What an I/O error holds is not its cause, but its cause's.
        let held = error.downcast_ref().and_then(io::Error::get_ref);
        next = held.map(|held| held as &(dyn StdError + 'static)).or_else(|| error.source());
    }
    None
}
