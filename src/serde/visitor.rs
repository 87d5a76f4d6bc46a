//! What is read, in each form.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Unexpected, Visitor};

use crate::support::integer::Integer;
use crate::uid::Uid;

/// The largest integer of JavaScript that no other one is rounded to.
const EXACT: u64 = (1 << 53) - 1;

/// Reads what a human-readable format has.
pub(super) struct TextVisitor<T>(pub PhantomData<T>);

impl<T: Integer> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, a whole number in 1..=9223372036854775807, as a decimal string or an integer",
            T::NAME
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        let id = IntegerVisitor(PhantomData).visit_u64(value)?;
        if value > EXACT {
            return Err(E::custom(format_args!(
                "{value} may have been rounded, as JavaScript does with integers from 2^53 on: \
                 send {} of that size as a string, or read the field with `uidring::serde::text` \
                 where the format takes each text of digits for an integer, as CSV does, or with \
                 `uidring::serde::number` if all of its writers have 64-bit integers",
                T::NAME
            )));
        }
        Ok(id)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => IntegerVisitor(PhantomData).visit_i64(value),
        }
    }
}

/// Reads an integer that is known to be exact.
pub(super) struct IntegerVisitor<T>(pub PhantomData<T>);

impl<T: Integer> Visitor<'_> for IntegerVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, a whole number in 1..=9223372036854775807, as an integer", T::NAME)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::try_from(value).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        T::try_from(value).map_err(E::custom)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<T, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Other(&value.to_string()), &self)),
        }
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<T, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Other(&value.to_string()), &self)),
        }
    }
}

/// Reads a text, or an integer that a format brings where it was asked for a text.
pub(super) struct ExactVisitor<T>(pub PhantomData<T>);

impl<T: Integer> Visitor<'_> for ExactVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, a whole number in 1..=9223372036854775807, as a decimal string", T::NAME)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, text: &[u8]) -> Result<T, E> {
        match str::from_utf8(text) {
            Ok(text) => self.visit_str(text),
            Err(_) => Err(E::invalid_value(Unexpected::Bytes(text), &self)),
        }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        IntegerVisitor(PhantomData).visit_u64(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        IntegerVisitor(PhantomData).visit_i64(value)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<T, E> {
        IntegerVisitor(PhantomData).visit_u128(value)
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<T, E> {
        IntegerVisitor(PhantomData).visit_i128(value)
    }
}

/// Reads base32.
pub(super) struct Base32Visitor;

impl Visitor<'_> for Base32Visitor {
    type Value = Uid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a UID as 13 characters of Crockford's base32")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Uid, E> {
        Uid::from_base32(text).map_err(E::custom)
    }
}
