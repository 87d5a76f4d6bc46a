//! Security: tokens, hosts, and the certificate for TLS.

pub(crate) mod access;
pub(crate) mod hosts;
pub(crate) mod secret;
pub(crate) mod tls;
