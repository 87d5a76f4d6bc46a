//! The file with the keys of masked and opaque ids.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use uidring::masked::{Key, Masked, Opaque};

/// A larger file is not one of keys.
const MAX_BYTES: u64 = 1 << 16;

/// The keys of a file: one of 64 hexadecimal digits on each line, with its key id before it unless
/// that is 0. The first one makes ids; opaque ids of the others are read as well. A line that
/// begins with `#` is a comment.
///
/// ```
/// use uidring_args::KeyFile;
///
/// let of_2026 = "9f".repeat(32);
/// let of_2024 = "0c".repeat(32);
/// let keys: KeyFile = format!("1 {of_2026}\n0 {of_2024}\n").parse()?;
/// let orders = keys.opaque("ord")?;
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyFile {
    first: (u8, Key),
    others: Vec<(u8, Key)>,
}

impl KeyFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// There is no such file, or it is not one of keys. The error contains nothing of a key.
    pub fn read(path: &Path) -> Result<KeyFile, String> {
        let mut text = String::new();
        let read = File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
            .map_err(|error| error.to_string());
        let keys = read.and_then(|bytes| match bytes as u64 {
            0..=MAX_BYTES => text.parse(),
            _ => Err(format!("it has more than {MAX_BYTES} bytes, and cannot be a file of keys")),
        });
        keys.map_err(|problem| format!("{}: {problem}", path.display()))
    }

    /// Masked UIDs, by the first key.
    #[must_use]
    pub fn masked(&self) -> Masked {
        Masked::new(&self.first.1)
    }

    /// Opaque ids with this prefix, by the first key. Those of the others are read.
    ///
    /// # Errors
    /// A key cannot have its id, or two keys have the same.
    pub fn opaque(&self, prefix: &str) -> Result<Opaque, String> {
        let (id, key) = &self.first;
        let opaque = Opaque::with_key_id(key, prefix, *id);
        let opaque = self.others.iter().fold(opaque, |opaque, (id, key)| opaque?.accept(*id, key));
        opaque.map_err(|error| error.to_string())
    }
}

impl FromStr for KeyFile {
    type Err = String;

    fn from_str(text: &str) -> Result<KeyFile, String> {
        let lines = text.lines().zip(1..).filter(|(line, _)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let keys = lines
            .map(|(line, number)| key(line).map_err(|problem| format!("line {number}: {problem}")));
        let mut keys = keys.collect::<Result<Vec<_>, _>>()?.into_iter();
        // An empty file is usually one that is being written.
        let first =
            keys.next().ok_or("there is no key in it: make one with `openssl rand -hex 32`")?;
        let keys = KeyFile { first, others: keys.collect() };
        // Says now what would be said when the first opaque id is made.
        keys.opaque("")?;
        Ok(keys)
    }
}

/// Reads a line: a key, or its id and the key.
fn key(line: &str) -> Result<(u8, Key), String> {
    let mut words = line.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    if words.next().is_some() {
        return Err("a line has a key, or the id of a key and the key".to_owned());
    }
    let (id, text) = match second {
        None => (0, first),
        // The word may be a part of a key, so it is not repeated.
        Some(key) => (first.parse().map_err(|_| "the id of a key is 0, 1, 2 or 3")?, key),
    };
    Ok((id, text.parse().map_err(|error: uidring::masked::ParseKeyError| error.to_string())?))
}

/// Parses the prefix of opaque ids: `ord`. Any prefix would do for [`Opaque`]; these need no escape
/// in an address, and no quotes in a shell.
///
/// # Errors
/// The text is not such a prefix.
pub fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if !(1..=32).contains(&text.len()) || !text.bytes().all(is_plain) {
        return Err(
            "a prefix is such as ord: 1 to 32 letters and digits of ASCII, `_` and `-`".to_owned()
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use uidring::Uid;

    use super::*;

    #[test]
    fn the_first_key_makes_ids_and_the_others_are_read() {
        let [one, two] = ["0c", "9F"].map(|byte| byte.repeat(32));
        let keys = |text: &str| text.parse::<KeyFile>().unwrap();
        let before = keys(&one);
        let after = keys(&format!("# of 2026\n\n 2\t{two} \r\n# of 2024\n0 {one}"));
        assert_eq!(
            before.masked().mask(Uid::MIN),
            keys(&format!("0 {one}\n")).masked().mask(Uid::MIN)
        );
        assert_ne!(before.masked().mask(Uid::MIN), after.masked().mask(Uid::MIN));
        let text = before.opaque("ord").unwrap().encode(Uid::MAX).to_string();
        let opaque = after.opaque("ord").unwrap();
        assert_eq!(opaque.decode(&text), Ok(Uid::MAX));
        assert_ne!(opaque.encode(Uid::MAX).to_string(), text);
    }

    #[test]
    fn what_is_no_file_of_keys_is_refused_and_not_repeated() {
        let key = "5a".repeat(32);
        for (text, expected) in [
            ("", "there is no key in it: make one with `openssl rand -hex 32`"),
            ("# later\n", "there is no key in it: make one with `openssl rand -hex 32`"),
            (&key[1..], "line 1: a key has 64 hexadecimal digits, not 63"),
            (
                &format!("{key}\n{key}z"),
                "line 2: character 65 of the key is not a hexadecimal digit",
            ),
            (&format!("{key}\n{key}"), "two keys have the id 0: give each an id of its own"),
            (&format!("4 {key}"), "4 cannot be the id of a key: ids are 0 to 3"),
            (&format!("-1 {key}"), "line 1: the id of a key is 0, 1, 2 or 3"),
            (&format!("{key} {key}"), "line 1: the id of a key is 0, 1, 2 or 3"),
            (&format!("0 {key} #"), "line 1: a line has a key, or the id of a key and the key"),
        ] {
            let error = text.parse::<KeyFile>().unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("5a5a"), "{error}");
        }
        assert!(!format!("{:?}", key.parse::<KeyFile>().unwrap()).contains("5a"));
    }

    #[test]
    fn a_prefix_needs_no_escape() {
        for good in ["ord", "o", "Order-2_x"] {
            assert_eq!(prefix(good).as_deref(), Ok(good));
        }
        for bad in ["", "or d", "ö", "a/b", "a%20", &"x".repeat(33)] {
            assert!(prefix(bad).is_err(), "{bad}");
        }
    }
}
