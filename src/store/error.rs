//! Why a store is not opened.

use std::error::Error;
use std::fmt;

use crate::backend::storage_error::StorageError;

/// An error returned by [`Store::open`](crate::Store::open): no store has this address. No field
/// holds a password.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// This kind of store is not built in.
    NotBuiltIn {
        /// The address without the password.
        address: String,
        /// The kind, as "PostgreSQL".
        name: &'static str,
        /// The feature of this library that builds it in.
        feature: &'static str,
    },
    /// No kind of store has this scheme.
    UnknownScheme {
        /// What stands before `://` in the address.
        scheme: String,
        /// The schemes there are.
        schemes: Vec<&'static str>,
    },
    /// The address of a file has parameters or escapes: one of `?`, `#` and `%`.
    Parameters,
    /// The address is empty.
    Empty {
        /// The schemes there are.
        schemes: Vec<&'static str>,
    },
    /// The address is written as another client has it, such as JDBC.
    OtherClient {
        /// What it begins with, such as `jdbc:mysql`.
        begin: String,
        /// How such a store is written here.
        written: &'static str,
    },
    /// The address is one of another client that is read here, but for one of its parameters.
    OtherParameter {
        /// What it begins with, such as `jdbc:mysql`.
        begin: String,
        /// The name of the parameter.
        parameter: String,
        /// How such a store is written here.
        written: &'static str,
    },
    /// A user and a password are given apart from the address, and do not fit it.
    Login {
        /// Why.
        problem: &'static str,
    },
    /// It begins with `sqlite:///`, after which some programs read a relative path and others an
    /// absolute one.
    TwoReadings {
        /// What follows.
        path: String,
    },
    /// It is neither the path of a file nor an address, and may be a list of keys and values.
    Unclear {
        /// The schemes there are.
        schemes: Vec<&'static str>,
    },
    /// The address cannot be used.
    Address(StorageError),
}

/// The beginnings of addresses in a sentence.
struct Beginnings<'a>(&'a [&'static str]);

impl fmt::Display for Beginnings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.len();
        for (index, scheme) in self.0.iter().enumerate() {
            let before = match index {
                0 => "",
                _ if index + 1 == all => " or ",
                _ => ", ",
            };
            write!(f, "{before}{scheme}://")?;
        }
        Ok(())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::NotBuiltIn { address, name, feature } => write!(
                f,
                "cannot open the store {address}: this program was built without {name}; build it \
                 with the feature `{feature}` of uidring"
            ),
            StoreError::UnknownScheme { scheme, schemes } => write!(
                f,
                "a store is a file, or an address that begins with {}, and not with {scheme}://",
                Beginnings(schemes)
            ),
            StoreError::Parameters => f.write_str(
                "an address that begins with sqlite: is read without parameters and escapes, but \
                 for network_file_system=yes, and this one has one of ?, # and %; leave them out, \
                 or give the path of the file alone, which begins with / or ./",
            ),
            StoreError::Empty { schemes } => write!(
                f,
                "the address of the store is empty: give the path of a file, or an address that \
                 begins with {}",
                Beginnings(schemes)
            ),
            StoreError::OtherClient { begin, written } => write!(
                f,
                "an address that begins with {begin}: is one of another client; a store is a file, \
                 or an address such as {written}, without the parameters that are meant for that \
                 client"
            ),
            StoreError::OtherParameter { begin, parameter, written } => write!(
                f,
                "an address that begins with {begin}: is read where each of its parameters is \
                 known, and {parameter} is not, or not with this value; leave it out, or write the \
                 address as {written}"
            ),
            StoreError::Login { problem } => f.write_str(problem),
            StoreError::TwoReadings { path } => write!(
                f,
                "sqlite:///{path} is {path} in the folder of the process to some programs, such as \
                 those with SQLAlchemy, and /{path} to others; write the path of the file alone, \
                 /{path} or ./{path}"
            ),
            StoreError::Unclear { schemes } => write!(
                f,
                "a store is a file, or an address that begins with {}; write keys and values as \
                 such an address, and begin the path of a file that looks like one with ./",
                Beginnings(schemes)
            ),
            StoreError::Address(error) => write!(f, "{error}"),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Its text is that of this error.
            StoreError::Address(error) => error.source(),
            _ => None,
        }
    }
}
