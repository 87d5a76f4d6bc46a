//! The file with the password of an address, which is read at each connection: so a password that
//! changes is known from the next call on.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::backend::error::Error;
use crate::support::audience::PerAudience;

/// The parameter of an address that names the file.
pub const PASSFILE: &str = "passfile";

/// What an error begins with where a server refuses the user or the password.
pub const CHECK_PASSWORD: &str = "see the user and the password";

/// The most bytes that a password has. A token of a cloud has a few thousand.
const LONGEST: u64 = 64 << 10;

/// A file that holds a password and nothing else, but for an end of the line.
#[derive(Clone, Debug)]
pub struct PasswordFile(PathBuf);

impl PasswordFile {
    /// The file at `path`, which must hold a password already. An address that names it holds none
    /// itself.
    pub fn at(path: impl Into<PathBuf>, has_password: bool) -> Result<PasswordFile, Error> {
        if has_password {
            return Err(Error::problem(
                "it has a password and names a file with one by passfile=; leave one of them out",
            ));
        }
        let file = PasswordFile(path.into());
        file.text().map_err(Error::problem)?;
        Ok(file)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The password.
    pub fn read(&self) -> Result<String, Error> {
        // It was there when the address was read, so it may be there again in a moment.
        self.text().map_err(|problem| Error::Unreachable { problem, source: None })
    }

    /// The password, from a file of libpq's as well, which has a line for each server:
    /// `host:port:database:user:password`. Of these, the first of which `is_ours` is read.
    #[cfg(feature = "postgres")]
    pub fn read_line(&self, is_ours: impl Fn(&[String]) -> bool) -> Result<String, Error> {
        let text = self.read()?;
        let mut lines = text.lines().map(fields);
        let line = lines.find(|fields| fields.len() == 5 && is_ours(&fields[..4]));
        Ok(line.map_or(text.clone(), |mut fields| fields.swap_remove(4)))
    }

    /// The password, or why there is none, as a sentence.
    fn text(&self) -> Result<String, String> {
        let path = self.0.display();
        let unread = |error| {
            format!("its password file {path} cannot be read: {error}; let this user read it")
        };
        if !fs::metadata(&self.0).map_err(unread)?.is_file() {
            return Err(format!("its password file {path} is no file; name the file itself"));
        }
        let mut bytes = Vec::new();
        let file = File::open(&self.0).map_err(unread)?;
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(unread)?;
        let refused = |why| {
            format!("its password file {path} {why}; write the password into it, and nothing else")
        };
        let text = String::from_utf8(bytes).map_err(|_| refused("is not UTF-8"))?;
        match text.trim_end_matches(['\r', '\n']) {
            "" => Err(refused("is empty")),
            password if password.len() as u64 > LONGEST => Err(refused("is too long")),
            password => Ok(password.to_owned()),
        }
    }
}

/// The five fields of a line of libpq's, in which a backslash stands before a colon that is no end.
#[cfg(feature = "postgres")]
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut letters) = (vec![String::new()], line.chars());
    while let Some(letter) = letters.next() {
        let is_last = fields.len() == 5;
        match (letter, fields.last_mut()) {
            (':', _) if !is_last => fields.push(String::new()),
            ('\\', Some(field)) => field.extend(letters.next()),
            (letter, Some(field)) => field.push(letter),
            (_, None) => {}
        }
    }
    fields
}

/// `error`, with what helps where a server refuses the password: that `file` holds, if one is
/// named.
pub fn with_password_advice(error: Error, file: Option<&Path>) -> Error {
    match error {
        Error::Unusable { problem, source } if problem.starts_with(CHECK_PASSWORD) => {
            let problem = match file {
                Some(path) => format!(
                    "see the user, and the password in the file {}, which is read again at each \
                     connection{}",
                    path.display(),
                    &problem[CHECK_PASSWORD.len()..]
                ),
                None => format!("{problem}{CHANGED}"),
            };
            Error::Unusable { problem, source }
        }
        error => error,
    }
}

const CHANGED: PerAudience = PerAudience {
    library: "; if it changes from time to time, name a file with it in the address, by passfile=",
    tool: "; if it changes from time to time, name a file with it in the address, by passfile=",
    service: "; if it has changed, correct the address in the file of options and send SIGHUP, or \
              name a file with the password in the address, by passfile=",
    binding: "; if it changes from time to time, name a file with it in the address, by passfile=",
};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::{Error, LONGEST, PasswordFile};

    #[test]
    fn a_file_has_a_password_and_perhaps_an_end_of_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        for (text, password) in
            [("pass", "pass"), ("p@s s\n", "p@s s"), (" p:a/s \r\n", " p:a/s "), ("p\n\n", "p")]
        {
            fs::write(&path, text).unwrap();
            assert_eq!(PasswordFile::at(&path, false).unwrap().read().unwrap(), password);
        }
    }

    #[test]
    #[cfg(feature = "postgres")]
    fn a_file_of_libpqs_has_a_line_for_each_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            let file = PasswordFile::at(&path, false).unwrap();
            file.read_line(|line| line[..] == ["db", "*", "i:d", "me"]).unwrap()
        };
        assert_eq!(read("# mine\nother:*:x:me:no\ndb:*:i\\:d:me:p:a\\\\s\\:s\n"), "p:a\\s:s");
        // A password may look like a line.
        assert_eq!(read("a:b:c:d:e"), "a:b:c:d:e");
        assert_eq!(read("db:*:i:d:me"), "db:*:i:d:me");
    }

    #[test]
    fn a_file_without_a_password_is_told_by_its_path_and_without_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        fs::write(&path, "first").unwrap();
        let file = PasswordFile::at(&path, false).unwrap();
        let long = "x".repeat(usize::try_from(LONGEST).unwrap() + 1);
        for (bytes, why) in [
            (&b""[..], " is empty; write"),
            (b"\n", " is empty; write"),
            (b"\xff\xfe", " is not UTF-8; write"),
            (long.as_bytes(), " is too long; write"),
        ] {
            fs::write(&path, bytes).unwrap();
            let read = file.read();
            let Err(Error::Unreachable { problem, .. }) = read else { unreachable!("{why}") };
            assert_eq!(
                problem.find(why),
                Some("its password file ".len() + path.display().to_string().len()),
                "{problem}"
            );
            assert!(matches!(PasswordFile::at(&path, false), Err(Error::Unusable { .. })));
        }
        fs::remove_file(&path).unwrap();
        assert!(matches!(file.read(), Err(Error::Unreachable { .. })));
        // A pipe could keep a call for ever.
        assert!(PasswordFile::at(folder.path(), false).is_err());
        fs::write(&path, "back\n").unwrap();
        assert_eq!(file.read().unwrap(), "back");
        assert!(PasswordFile::at(&path, true).is_err());
    }
}
