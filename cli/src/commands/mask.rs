//! `uidring mask` and `uidring unmask`: UIDs in a form that tells nothing, and back.

use std::io::{self, Write};

use serde::Serialize;
use uidring::Uid;
use uidring::masked::{Masked, Opaque};
use uidring_args::{KeyFile, prefix, with_causes};
use uidring_layouts::Id;

use crate::args::ids::{self, each};
use crate::args::key::KeyArgs;
use crate::text::{self, Failure};

/// Turn UIDs into a form that tells neither time nor worker
///
/// Without a prefix, it is a number as large as a UID; any number unmasks to some UID. With one,
/// it is a text that cannot be made up. The same key gives the same forms, in the library and in
/// the service, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  openssl rand -hex 32 > uidring.key
  uidring mask --key-file uidring.key 240475639809867779
  uidring mask --key-file uidring.key --prefix ord 06NJQA8001003
  cut -f1 orders.tsv | UIDRING_KEY_FILE=uidring.key uidring mask --json")]
pub(crate) struct Mask {
    /// UIDs in decimal or base32. `-`, or no UID, reads the lines of standard input
    /// and prints each as it comes
    #[arg(value_name = "UID", allow_negative_numbers = true)]
    uids: Vec<String>,

    /// Make texts with this prefix, such as `ord_5H7WY7KKXFH1JCEMMC78CF0N9T`
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    prefix: Option<String>,

    /// Print a JSON object for each UID, one a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    key: KeyArgs,
}

/// Turn masked UIDs back into UIDs
///
/// A text with `_` is read as one with a prefix, and is refused if it was made up or changed.
/// A number is always read: if it was made up, the UID is one that hardly anybody has taken.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring unmask --key-file uidring.key 7248484344334211842
  uidring unmask --key-file uidring.key ord_5H7WY7KKXFH1JCEMMC78CF0N9T
  uidring unmask --key-file uidring.key < masked.txt | uidring parse")]
pub(crate) struct Unmask {
    /// Masked UIDs, or texts with a prefix. `-`, or none, reads the lines of
    /// standard input and prints each as it comes
    #[arg(value_name = "MASKED", allow_negative_numbers = true)]
    masked: Vec<String>,

    /// Print a JSON object for each of them, one a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    key: KeyArgs,
}

/// A UID and its other form, in JSON.
#[derive(Serialize)]
struct Record<'a> {
    uid: String,
    masked: &'a str,
}

impl Mask {
    pub(crate) fn run(self) -> Result<(), Failure> {
        ids::check(&self.uids, "UID to mask")?;
        let keys = self.key.keys()?;
        let opaque = self.prefix.as_deref().map(|prefix| keys.opaque(prefix)).transpose();
        let opaque = opaque.map_err(Failure::Failed)?;
        let masked = keys.masked();
        let mask = |text: &str| {
            let uid = Id::uid(text, false)
                .map_err(|error| format!("{text:?} is not a UID: {}", with_causes(&error)))?;
            Ok((
                uid,
                match &opaque {
                    Some(opaque) => opaque.encode(uid).to_string(),
                    None => masked.mask(uid).to_string(),
                },
            ))
        };
        print_each(&self.uids, mask, |uid, masked| {
            if self.json { record(uid, masked) } else { Ok(format!("{masked}\n")) }
        })
    }
}

impl Unmask {
    pub(crate) fn run(self) -> Result<(), Failure> {
        ids::check(&self.masked, "UID to unmask")?;
        let keys = self.key.keys()?;
        let mut forms = Forms { masked: keys.masked(), opaque: None, keys };
        let unmask = |text: &str| Ok((forms.uid(text)?, text.to_owned()));
        print_each(&self.masked, unmask, |uid, masked| {
            if self.json { record(uid, masked) } else { Ok(format!("{uid}\n")) }
        })
    }
}

/// Reads either form.
struct Forms {
    keys: KeyFile,
    masked: Masked,
    /// For texts with the prefix of the last one.
    opaque: Option<Opaque>,
}

impl Forms {
    fn uid(&mut self, text: &str) -> Result<Uid, String> {
        let Some((prefix, _)) = text.rsplit_once('_') else {
            // A masked UID has the form of a UID.
            let number = text.parse::<Uid>().map(Uid::get);
            let uid = number
                .map_err(|error| with_causes(&error))
                .and_then(|number| self.masked.unmask(number).map_err(|error| with_causes(&error)));
            return uid.map_err(|why| format!("{text:?} is not a masked UID: {why}"));
        };
        let opaque = match self.opaque.take() {
            Some(opaque) if opaque.prefix() == prefix => opaque,
            _ => self.keys.opaque(prefix)?,
        };
        let uid = self.opaque.insert(opaque).decode(text);
        uid.map_err(|error| format!("{text:?} is not the id of a UID: {}", with_causes(&error)))
    }
}

fn record(uid: Uid, masked: &str) -> Result<String, Failure> {
    text::json(&Record { uid: uid.to_string(), masked })
}

/// Prints a line for each text, as soon as it comes, and complains of those that have none.
fn print_each(
    texts: &[String],
    mut read: impl FnMut(&str) -> Result<(Uid, String), String>,
    line: impl Fn(Uid, &str) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let mut is_wrong = false;
    each(texts, |text, more| {
        match read(text) {
            Ok((uid, masked)) => {
                let line = line(uid, &masked)?;
                stdout.write_all(line.as_bytes()).map_err(Failure::Output)?;
            }
            Err(problem) => {
                is_wrong = true;
                text::print_error(&problem);
            }
        }
        // A program that sends one line and waits for the answer must get it.
        if more { Ok(()) } else { stdout.flush().map_err(Failure::Output) }
    })?;
    stdout.flush().map_err(Failure::Output)?;
    // Each wrong text has been reported.
    if is_wrong { Err(Failure::Reported) } else { Ok(()) }
}
