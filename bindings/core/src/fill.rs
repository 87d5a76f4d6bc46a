//! Filling a caller's buffer.

use uidring::FillError;

use crate::error::Error;

/// Ids that are taken from the library at once to be copied to a caller's buffer.
const AT_ONCE: usize = 512;

/// Fills `buffer` with the numbers in what `fill` takes. The first of those is `unset`.
///
/// # Errors
/// That of `fill`, with how many numbers from the start of the buffer are new.
pub(crate) fn fill<T: Copy + Into<u64>>(
    buffer: &mut [u64],
    unset: T,
    fill: impl Fn(&mut [T]) -> Result<(), FillError>,
) -> Result<(), (usize, Error)> {
    let mut taken = [unset; AT_ONCE];
    let mut filled = 0;
    for part in buffer.chunks_mut(AT_ONCE) {
        let taken = &mut taken[..part.len()];
        let result = fill(taken);
        let count = result.as_ref().err().map_or(part.len(), FillError::filled);
        for (place, &id) in part.iter_mut().zip(&taken[..count]) {
            *place = id.into();
        }
        filled += count;
        result.map_err(|error| (filled, Error::from(error)))?;
    }
    Ok(())
}
