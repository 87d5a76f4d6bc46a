//! Values that begin with a hyphen, such as negative numbers.

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

/// Parses a command line. If an option is followed by a value such as -5, clap mistakes it for
/// another option, so the two are joined first. Then the parser of the value reports what is wrong
/// with it.
pub(crate) fn parsed<C: Parser>(args: &[OsString]) -> Result<C, clap::Error> {
    C::try_parse_from(args).or_else(|error| match C::try_parse_from(joined(args)) {
        Err(of_value) if is_of_value(&of_value) => Err(of_value),
        Err(_) => Err(error),
        parsed => parsed,
    })
}

/// Whether a value is wrong, and not its place.
pub(crate) fn is_of_value(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue)
}

/// `args` with `--first=-5` for `--first -5`.
fn joined(args: &[OsString]) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut is_over = false;
    for arg in args {
        is_over |= arg == "--";
        match joined.last_mut() {
            Some(option) if !is_over && is_option(option) && is_negative(arg) => {
                option.push("=");
                option.push(arg);
            }
            _ => joined.push(arg.clone()),
        }
    }
    joined
}

/// `--first` or `-n`, without a value.
fn is_option(arg: &OsString) -> bool {
    let arg = arg.to_string_lossy();
    let is_short = arg.len() == 2 && arg.starts_with('-') && !is_negative(&arg.as_ref().into());
    is_short || arg.starts_with("--") && !arg.contains('=')
}

fn is_negative(arg: &OsString) -> bool {
    let arg = arg.to_string_lossy();
    arg.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::joined;

    #[test]
    fn an_option_takes_what_follows_it() {
        for (line, expected) in [
            ("take -n -5", "take -n=-5"),
            ("tags create x --first -5k", "tags create x --first=-5k"),
            ("take -5 -5", "take -5 -5"),
            ("take -n5 -5", "take -n5 -5"),
            ("take --first=1 -5", "take --first=1 -5"),
            ("take --for --json", "take --for --json"),
            ("tags create --step 5 -- -5", "tags create --step 5 -- -5"),
            ("take -- --first -5", "take -- --first -5"),
        ] {
            let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(joined(&words(line)), words(expected));
        }
    }
}
