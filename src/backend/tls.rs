//! TLS to the servers to which this library speaks by rustls itself: whom it trusts, and how it
//! shows who it is.

use std::path::PathBuf;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::pem;
use crate::sync::Arc;

/// Whom a client trusts, and what it shows of itself. The files are in PEM. Each call of
/// [`config`](Tls::config) reads them, so that a renewed certificate needs no restart.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// The authorities that are trusted in place of Mozilla's list.
    pub authority: Option<PathBuf>,
    /// The client's certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether a server's certificate may be for other names than the server's.
    pub takes_any_name: bool,
}

impl Tls {
    /// What rustls needs, or why a file cannot be used.
    pub fn config(&self) -> Result<ClientConfig, String> {
        let mut roots = RootCertStore::empty();
        let mut named = Vec::new();
        if let Some(path) = &self.authority {
            named = pem::certificates(path)?;
            for certificate in &named {
                roots.add(certificate.clone()).map_err(|error| pem::refused(path, &error))?;
            }
        } else {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        // Named, as a program may have several providers of cryptography and no default.
        let provider = Arc::new(default_provider());
        let chains =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let chains = chains.build().map_err(|error| error.to_string())?;
        let verifier = Verifier { chains, named, takes_any_name: self.takes_any_name };
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions();
        #[allow(clippy::expect_used)] // of the two that are asked for, both are there
        let builder = builder.expect("ring has the default protocol versions");
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let Some((certificate, key)) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        builder
            .with_client_auth_cert(pem::certificates(certificate)?, pem::private_key(key)?)
            .map_err(|error| pem::refused(certificate, &error))
    }
}

/// Takes the certificates that rustls takes, and those of two more kinds that PostgreSQL's own
/// client takes, too.
#[derive(Debug)]
struct Verifier {
    chains: Arc<WebPkiServerVerifier>,
    /// The certificates that are trusted by name.
    named: Vec<CertificateDer<'static>>,
    takes_any_name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let mut verified = self.chains.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        // A certificate that signed itself may call itself an authority, as those of `openssl req
        // -x509` do, so that a chain of certificates cannot end with it. Trusted by name, it needs
        // no chain. Whether it has expired was looked at before.
        if let Err(Error::InvalidCertificate(CertificateError::Other(_))) = verified
            && self.named.contains(end_entity)
        {
            verified = verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)
                .map(|()| ServerCertVerified::assertion());
        }
        match verified {
            // The name is looked at last, so everything else is in order.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.takes_any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}
