//! Who may do what: tokens, and the certificate for TLS.

pub(crate) mod access;
pub(crate) mod tls;
