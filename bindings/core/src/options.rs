//! Options as texts: what there is, and how they are read.
//!
//! The tool `uidring` and the bindings read options with the same parsers. Here an option is called
//! `max_lead`, as the method of the library is, and not `--max-lead`.

use std::fmt;
use std::time::{Duration, SystemTime};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, CommandFactory, Parser};
use uidring_args::{
    GeneratorArgs, LayoutArgs, LoanArgs, SeriesArgs, Table, TagArgs, find_spelling, length,
    quantity, some_length, time, with_causes, without_passwords,
};
use zeroize::Zeroizing;

use crate::error::Error;

/// The options of a generator of UIDs.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct UidOptions {
    #[command(flatten)]
    pub(crate) generator: GeneratorArgs,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    #[command(flatten)]
    pub(crate) login: LoginOptions,

    /// With a worker id of your own: the file that keeps up to which time it was used, so that a
    /// restart goes on after that
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<String>,

    /// For a test, with a worker id of your own: the time at which the clock stands still, as an
    /// epoch is written
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) test_time: Option<SystemTime>,

    /// The sequence of the first id at `test_time` [default: 0]
    #[arg(long, value_name = "N", requires = "test_time")]
    pub(crate) test_sequence: Option<u64>,

    /// How far the clock may be ahead of the store's last start [default: any length]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) max_forward_jump: Option<Duration>,

    /// How long to wait for the store at the start
    #[arg(long, value_name = "LENGTH", default_value = "30s", value_parser = length)]
    pub(crate) start_deadline: Duration,

    /// How long to wait for the store at the end
    #[arg(long, value_name = "LENGTH", default_value = "15s", value_parser = length)]
    pub(crate) shutdown_deadline: Duration,

    /// How long one call to the store may take [default: 5s]
    #[arg(long, value_name = "LENGTH", value_parser = some_length)]
    pub(crate) timeout: Option<Duration>,
}

/// The options of a generator of dense numbers.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct SegmentOptions {
    /// The table with the tags
    #[arg(long, value_name = "TABLE", default_value = "own")]
    pub(crate) table: Table,

    #[command(flatten)]
    pub(crate) loading: LoadOptions,

    #[command(flatten)]
    pub(crate) login: LoginOptions,
}

/// The options of the series of a store.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct SeriesOptions {
    #[command(flatten)]
    pub(crate) loading: LoadOptions,

    #[command(flatten)]
    pub(crate) login: LoginOptions,
}

/// Who asks the server, where the address does not say it.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct LoginOptions {
    /// The user of the server, if the address does not name it
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,

    /// The password, if it is not in the address. It may have any characters
    #[arg(long, value_name = "PASSWORD")]
    pub(crate) password: Option<Secret>,

    /// For tests alone: take a server that may forget what it has confirmed, after which ids come
    /// again
    #[arg(long)]
    pub(crate) only_for_tests: bool,
}

/// A text that is not shown.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(Zeroizing::new(text.to_owned()))
    }
}

/// How numbers are loaded.
#[derive(Debug, clap::Args)]
pub(crate) struct LoadOptions {
    /// How long a take waits for numbers that are being loaded
    #[arg(long, value_name = "LENGTH", default_value = "1s", value_parser = length)]
    pub(crate) max_wait: Duration,

    /// Keep numbers in memory for at least this time at the present rate
    #[arg(long, value_name = "LENGTH", default_value = "10s", value_parser = length)]
    pub(crate) ahead: Duration,

    /// Ask the store about once in this time
    #[arg(long, value_name = "LENGTH", default_value = "15m", value_parser = length)]
    pub(crate) refresh: Duration,

    /// The most numbers of a tag or scope in memory, which are lost if the process is killed: 500,
    /// 20k, 1.5M. A larger step goes first [default: as many as ahead and refresh ask for]
    #[arg(long, value_name = "N", value_parser = in_memory)]
    pub(crate) max_in_memory: Option<u64>,

    /// How many tags or scopes are loaded at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = loads)]
    pub(crate) loads: usize,

    /// How long to wait for the store at the end
    #[arg(long, value_name = "LENGTH", default_value = "15s", value_parser = length)]
    pub(crate) shutdown_deadline: Duration,

    /// How long one call to the store may take
    #[arg(long, value_name = "LENGTH", default_value = "5s", value_parser = some_length)]
    pub(crate) timeout: Duration,
}

/// The options of a new tag.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct NewTag {
    #[command(flatten)]
    pub(crate) tag: TagArgs,
}

/// The options of a new series.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct NewSeries {
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
}

/// The options of a loan.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct LoanOptions {
    #[command(flatten)]
    pub(crate) loan: LoanArgs,

    #[command(flatten)]
    pub(crate) login: LoginOptions,

    /// How long one call to the store may take [default: 5s]
    #[arg(long, value_name = "LENGTH", value_parser = some_length)]
    pub(crate) timeout: Option<Duration>,
}

fn in_memory(text: &str) -> Result<u64, String> {
    quantity::count_of(text, "numbers in memory", 1..=u64::MAX)
}

fn loads(text: &str) -> Result<usize, String> {
    quantity::count_of(text, "loads", 1..=1024)
}

/// The calls that take options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionList {
    /// Opening a generator of UIDs.
    Uids,
    /// Opening segments.
    Segments,
    /// Creating a tag.
    Tag,
    /// Opening series.
    Series,
    /// Creating a series.
    NewSeries,
    /// Lending a worker id.
    Loan,
}

impl OptionList {
    /// Each of them.
    pub const ALL: [OptionList; 6] = [
        OptionList::Uids,
        OptionList::Segments,
        OptionList::Tag,
        OptionList::Series,
        OptionList::NewSeries,
        OptionList::Loan,
    ];

    fn command(self) -> Command {
        match self {
            OptionList::Uids => UidOptions::command(),
            OptionList::Segments => SegmentOptions::command(),
            OptionList::Tag => NewTag::command(),
            OptionList::Series => SeriesOptions::command(),
            OptionList::NewSeries => NewSeries::command(),
            OptionList::Loan => LoanOptions::command(),
        }
    }
}

/// The names of the options of a call, each with what it means.
#[must_use]
pub fn options_of(list: OptionList) -> Vec<(String, String)> {
    let command = list.command();
    let described = |arg: &Arg| {
        let name = arg.get_long().map(option_name)?;
        let help = arg.get_help().map(StyledStr::to_string).unwrap_or_default();
        let mut help = with_option_names(&command, &help);
        // A flag's is false, and goes without saying.
        if let ([default], true) = (arg.get_default_values(), arg.get_action().takes_values()) {
            help = format!("{help} [default: {}]", default.display());
        }
        Some((name, help))
    };
    command.get_arguments().filter_map(described).collect()
}

/// Reads options such as `("lease", "10m")`.
pub(crate) fn parse<O: Parser>(options: &[(&str, &str)]) -> Result<O, Error> {
    let command = O::command();
    let mut args = Vec::new();
    for &(name, value) in options {
        let arg = find(&command, name).ok_or_else(|| unknown(&command, name))?;
        let long = arg.get_long().unwrap_or_default();
        match (arg.get_action(), value) {
            (ArgAction::SetTrue, "true") => args.push(format!("--{long}")),
            (ArgAction::SetTrue, "false") => {}
            (ArgAction::SetTrue, _) => {
                let value = without_passwords(value);
                let problem = format!("the option {name} is true or false, and not {value:?}");
                return Err(Error::argument(problem));
            }
            _ => args.push(format!("--{long}={value}")),
        }
    }
    O::try_parse_from(args).map_err(|error| Error::argument(sentence_of(&command, &error)))
}

/// The option of this name, in any spelling of it: frameworks hand `max_lead` over as `max.lead`,
/// `max-lead` or `maxLead`.
fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let long = find_spelling(name, command.get_arguments().filter_map(Arg::get_long))?;
    command.get_arguments().find(|arg| arg.get_long() == Some(long))
}

/// How an option is written that is given as a name alone, for the sentence that refuses it.
#[must_use]
pub fn option_example(name: &str) -> String {
    let flag = OptionList::ALL.iter().find_map(|list| {
        let command = list.command();
        let flag = find(&command, name).filter(|arg| !arg.get_action().takes_values())?;
        flag.get_long().map(|long| format!("{}=true", option_name(long)))
    });
    flag.unwrap_or_else(|| "lease=10m".to_owned())
}

/// The name of an option here.
fn option_name(long: &str) -> String {
    long.replace('-', "_")
}

/// A sentence about options of the command line, as one about these.
fn with_option_names(command: &Command, sentence: &str) -> String {
    let mut longs: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    // A name may be the beginning of another.
    longs.sort_unstable_by_key(|long| std::cmp::Reverse(long.len()));
    longs.iter().fold(sentence.replace("--db", "the address"), |text, long| {
        text.replace(&format!("--{long}"), &option_name(long))
    })
}

/// A sentence about the tool's options of a generator, as one about these.
pub(crate) fn about_uid_options(sentence: &str) -> String {
    with_option_names(&UidOptions::command(), sentence)
}

fn unknown(command: &Command, name: &str) -> Error {
    let names: Vec<String> =
        command.get_arguments().filter_map(Arg::get_long).map(option_name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // It may be the address, in the wrong place.
    Error::argument(uidring_args::unknown("option", &without_passwords(name), &names))
}

/// What clap refuses, as a sentence about options.
fn sentence_of(command: &Command, error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(" and ")),
        _ => None,
    };
    // "--lease <LENGTH>"
    let option = |kind| Some(with_option_names(command, text(kind)?.split(' ').next()?));
    let sentence = || {
        let invalid = option(ContextKind::InvalidArg)?;
        match error.kind() {
            ErrorKind::ValueValidation => {
                let why = std::error::Error::source(error)?;
                let value = without_passwords(&text(ContextKind::InvalidValue)?);
                let why = with_option_names(command, &with_causes(why));
                Some(format!("the option {invalid} cannot be {value:?}: {why}"))
            }
            ErrorKind::InvalidValue => {
                let value = without_passwords(&text(ContextKind::InvalidValue)?);
                let valid = match error.get(ContextKind::ValidValue) {
                    Some(ContextValue::Strings(valid)) => valid.join(", "),
                    _ => return None,
                };
                Some(format!("the option {invalid} is one of {valid}, and not {value:?}"))
            }
            ErrorKind::ArgumentConflict => match option(ContextKind::PriorArg)? {
                prior if prior == invalid => Some(format!("the option {invalid} is given twice")),
                prior => Some(format!("the options {invalid} and {prior} exclude each other")),
            },
            _ => None,
        }
    };
    sentence().unwrap_or_else(|| with_option_names(command, &without_passwords(&error.to_string())))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    fn refused<O: Parser + std::fmt::Debug>(options: &[(&str, &str)]) -> String {
        parse::<O>(options).unwrap_err().message
    }

    #[test]
    fn what_is_wrong_is_told_with_the_name_and_the_value() {
        for (options, said) in [
            (
                &[("lease", "10")][..],
                "the option lease cannot be \"10\": a length of time is such as 500ms, 10s, 1h30m \
                 or 1d",
            ),
            (
                &[("preset", "leav")],
                "the option preset is one of default, uid-generator, \
                 uid-generator-starter, twitter, sharding-sphere, seata, js-safe, discord, \
                 instagram, tsid, and not \"leav\"",
            ),
            (&[("lease", "1m"), ("lease", "2m")], "the option lease is given twice"),
            (
                &[("partition", "0/2"), ("worker_ids", "1-2")],
                "the options partition and worker_ids exclude each other",
            ),
            (&[("exact_time", "1")], "the option exact_time is true or false, and not \"1\""),
            (
                &[("layout", "leaf")],
                "the option layout cannot be \"leaf\": a layout is three widths in bits, such as \
                 29,21,13; a layout with a name is chosen by preset",
            ),
        ] {
            assert_eq!(refused::<UidOptions>(options), said);
        }
        let said = refused::<SegmentOptions>(&[("max_wiat", "1s")]);
        assert!(said.starts_with("there is no option \"max_wiat\"; did you mean max_wait? The"));
        assert!(said.contains("options are table, max_wait, ahead,"), "{said}");
        let said = refused::<UidOptions>(&[("help", "true")]);
        assert!(said.starts_with("there is no option \"help\"; the options are lease, "), "{said}");
    }

    #[test]
    fn no_password_of_an_address_in_the_wrong_place_is_told() {
        let address = "mysql://ids:secret@db/ids";
        let with_parameter = "mysql://ids:secret@db/ids?ssl-ca";
        for (name, value) in [
            (address, "10m"),
            (with_parameter, "ca.pem"),
            ("lease", address),
            ("preset", address),
            ("exact_time", address),
        ] {
            let said = refused::<UidOptions>(&[(name, value)]);
            assert!(said.contains("\"mysql://ids@db/ids\"") && !said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn an_option_is_known_in_each_spelling() {
        let mut cases = 0;
        for list in OptionList::ALL {
            let command = list.command();
            for (name, _) in options_of(list) {
                let words: Vec<&str> = name.split('_').collect();
                let capital = |word: &&str| word[..1].to_uppercase() + &word[1..];
                let camel = words.iter().map(capital).collect::<String>();
                let spellings = [
                    name.clone(),
                    words.join("-"),
                    words.join("."),
                    name.replace('_', ""),
                    name.to_uppercase(),
                    words.join(".").to_uppercase(),
                    words[0].to_owned() + &words[1..].iter().map(capital).collect::<String>(),
                    camel,
                ];
                for spelling in spellings {
                    let found = find(&command, &spelling).and_then(Arg::get_long).map(option_name);
                    assert_eq!(found.as_deref(), Some(&*name), "{spelling}");
                    cases += 1;
                }
            }
        }
        assert!(cases > 300, "{cases}");
        let twice = refused::<UidOptions>(&[("max.lead", "1m"), ("maxLead", "1m")]);
        assert_eq!(twice, "the option max_lead is given twice");
        // No two options of a call are spellings of one name.
        for list in OptionList::ALL {
            let names: Vec<String> =
                options_of(list).iter().map(|(name, _)| uidring_args::normalized(name)).collect();
            let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
            assert_eq!(distinct.len(), names.len());
        }
    }

    #[test]
    fn a_name_alone_is_told_how_it_is_written() {
        for (name, expected) in [
            ("exact_time", "exact_time=true"),
            ("exactTime", "exact_time=true"),
            ("uid_generator", "uid_generator=true"),
            ("gapless", "gapless=true"),
            ("max_lead", "lease=10m"),
            ("", "lease=10m"),
            ("nothing", "lease=10m"),
        ] {
            assert_eq!(option_example(name), expected);
        }
    }

    #[test]
    fn values_are_read_as_they_are() {
        let options: NewTag = parse(&[("description", "--a = \"b\"")]).unwrap();
        assert!(format!("{options:?}").contains(r#"--a = \"b\""#));
        let options: UidOptions = parse(&[("exact_time", "false"), ("max_lead", "1m")]).unwrap();
        assert!(!options.generator.exact_time);
        assert_eq!(options.generator.max_lead(), Duration::from_secs(60));
    }

    #[test]
    fn each_option_is_told_without_dashes() {
        for list in OptionList::ALL {
            let options = options_of(list);
            assert!(!options.is_empty());
            for (name, help) in options {
                assert!(!name.contains('-') && !help.is_empty() && !help.contains("--"), "{help}");
            }
        }
    }
}
