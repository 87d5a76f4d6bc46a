//! What errors of the servers' drivers mean, and what to do.

use std::error::Error as StdError;
use std::io;

use rustls::CertificateError;

use super::Error;
use crate::backend::address::password_file::CHECK_PASSWORD;
use crate::support::flat_error::FlatError;

/// What an error of a driver means.
#[derive(Clone, Copy, Debug)]
pub enum Diagnosis {
    /// The tables are not there.
    MissingTables,
    /// There are tables of these names, and they are others.
    IncompatibleTables,
    /// The user lacks a right.
    Denied,
    /// Others hold the rows, or wrote them first.
    Locked,
    /// What the same call may not meet a moment later, and what to do.
    Later(&'static str),
    /// The disk is full.
    Full,
    /// What to do about a database that cannot be used as it is.
    Unusable(&'static str),
    Other,
}

/// The server is down, or on its way up or down.
pub const DOWN: Diagnosis =
    Diagnosis::Later("see that the server runs and can be reached from here");

/// The server has no connection or no memory to spare.
pub const OVERLOADED: Diagnosis =
    Diagnosis::Later("see who uses the server's connections and memory, or allow more of them");

/// The server, or its administrator, ended a statement.
pub const INTERRUPTED: Diagnosis =
    Diagnosis::Later("see what keeps the server busy, or give its statements more time");

/// A replica, or a primary that hands over to another: what was its replica may soon take writes.
pub const REPLICA: Diagnosis =
    Diagnosis::Later("give the address of the primary, or make this server the primary");

pub const BAD_PASSWORD: Diagnosis = Diagnosis::Unusable(CHECK_PASSWORD);

pub const NO_DATABASE: Diagnosis = Diagnosis::Unusable("see the name of the database");

impl Diagnosis {
    /// What `error` means, with the driver's error as the cause.
    pub fn into_error(self, error: impl StdError + Send + Sync + 'static) -> Error {
        let source = Box::new(FlatError::new(error));
        match self {
            Diagnosis::MissingTables => Error::MissingTables(Some(source)),
            Diagnosis::IncompatibleTables => Error::IncompatibleTables(Some(source)),
            Diagnosis::Denied => Error::Denied(source),
            Diagnosis::Locked => Error::Locked,
            Diagnosis::Later(what_to_do) => {
                Error::Unreachable { problem: what_to_do.to_owned(), source: Some(source) }
            }
            Diagnosis::Full => Error::Full(source),
            Diagnosis::Unusable(what_to_do) => {
                Error::Unusable { problem: what_to_do.to_owned(), source: Some(source) }
            }
            Diagnosis::Other => Error::Other(source),
        }
    }
}

/// The parameters that an address of a kind of server has for TLS.
#[derive(Debug)]
pub struct TlsAdvice {
    /// Names the authority.
    pub authority: &'static str,
    /// Names the client's certificate and its key.
    pub identity: &'static str,
    /// Takes a certificate for any name.
    pub any_name: &'static str,
    /// What to do about a server's certificate that is an authority's.
    pub is_authority: &'static str,
}

impl TlsAdvice {
    /// What to do about this `error`.
    pub fn for_error(&self, error: &rustls::Error) -> String {
        let TlsAdvice { authority, identity, any_name, is_authority } = self;
        match error {
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => format!(
                "see the server's certificate: its authority is not known here; name that in the \
                 address by {authority}"
            ),
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => format!(
                "see the server's certificate: it is for another name than the one in the address; \
                 write a name there that it is for, or {any_name}, which takes any"
            ),
            rustls::Error::InvalidCertificate(
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
            ) => "see the server's certificate: it has expired or is not valid yet; have it \
                  renewed, or set this machine's clock"
                .to_owned(),
            // There is no other word for it.
            rustls::Error::InvalidCertificate(CertificateError::Other(_))
                if error.to_string().contains("CaUsedAsEndEntity") =>
            {
                format!("see the server's certificate: {is_authority}")
            }
            rustls::Error::InvalidCertificate(_) => "see the server's certificate".to_owned(),
            rustls::Error::AlertReceived(_) => format!(
                "the server broke TLS off; if it asks for a certificate, name one that it trusts \
                 in the address by {identity}"
            ),
            _ => "see that the server speaks TLS 1.2 or 1.3 at this port".to_owned(),
        }
    }
}

/// What `error` of a driver means: the error of TLS behind it, if there is one, or what `diagnose`
/// finds.
pub fn explain<E: StdError + Send + Sync + 'static>(
    error: E,
    advice: &TlsAdvice,
    diagnose: fn(&E) -> Diagnosis,
) -> Error {
    let Some(problem) = tls_error(&error).map(|tls| advice.for_error(tls)) else {
        return diagnose(&error).into_error(error);
    };
    Error::Unusable { problem, source: Some(Box::new(FlatError::new(error))) }
}

/// The error of TLS behind this one, if there is one.
pub fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
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
