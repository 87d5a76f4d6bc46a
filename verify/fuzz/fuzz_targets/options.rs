//! The values of the options that the tool and the service share. What is read can be written so
//! that it is read as the same.

#![no_main]

use std::time::Duration;

use clap::{Args, Command, FromArgMatches};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use uidring::RegistryOptions;
use uidring_args::{LayoutArgs, RegistryConfig, Table, lease, length, nearest, time};
use uidring_args::{partition, some_length, worker_id, worker_ids};
use uidring_layouts::Preset;

const CENTURY: Duration = Duration::from_secs(36_500 * 24 * 3600);

fuzz_target!(|text: &str| {
    lengths(text);
    ids(text);
    if let Ok(read) = time(text) {
        let printed = Timestamp::try_from(read).unwrap().to_string();
        assert_eq!(time(&printed), Ok(read), "{printed}");
    }
    if let Ok(table) = Table::from_str(text, false) {
        let name = table.to_possible_value().unwrap();
        assert_eq!(Table::from_str(name.get_name(), false), Ok(table));
    }
    layouts(text);
    let known = ["listen", "max-body", "max-header", "tokens"];
    assert!(nearest(text, known.into_iter()).is_none_or(|name| known.contains(&name)));
});

fn lengths(text: &str) {
    let found = length(text);
    let milliseconds = found.as_ref().map(|length| format!("{}ms", length.as_millis()));
    if let (Ok(found), Ok(printed)) = (&found, &milliseconds) {
        assert!(*found <= CENTURY && found.subsec_nanos() % 1_000_000 == 0, "{found:?}");
        assert_eq!(length(printed).as_ref(), Ok(found));
    }
    assert_eq!(some_length(text).ok(), found.clone().ok().filter(|found| !found.is_zero()));
    let second = Duration::from_secs(1);
    assert_eq!(lease(text).ok(), found.ok().filter(|found| *found >= second));
}

fn ids(text: &str) {
    if let Ok(id) = worker_id(text) {
        assert_eq!(worker_id(&id.to_string()), Ok(id));
    }
    let (part, range) = (partition(text), worker_ids(text));
    if let Ok((index, of)) = part {
        assert!(index < of);
        assert_eq!(partition(&format!("{index}/{of}")), Ok((index, of)));
    }
    if let Ok(ids) = &range {
        assert!(ids.start() <= ids.end() && *ids.end() > 0);
        assert_eq!(worker_ids(&format!("{}-{}", ids.start(), ids.end())).as_ref(), Ok(ids));
    }
    let config = RegistryConfig {
        partition: part.ok(),
        worker_ids: range.ok(),
        ..RegistryConfig::default()
    };
    let _ = RegistryOptions::from(&config);
}

/// Each line is the value of an option.
fn layouts(text: &str) {
    let mut lines = text.lines();
    let mut arguments = vec!["test".to_owned()];
    for name in ["layout", "tick", "epoch", "order", "preset"] {
        if let Some(line) = lines.next().filter(|line| !line.is_empty()) {
            arguments.push(format!("--{name}={line}"));
        }
    }
    let command = LayoutArgs::augment_args(Command::new("test"));
    let Ok(matches) = command.try_get_matches_from(&arguments) else { return };
    let Ok(read) = LayoutArgs::from_arg_matches(&matches) else { return };
    let Ok(Some(layout)) = read.requested() else { return };
    let epoch = Timestamp::try_from(layout.epoch()).unwrap();
    if arguments.iter().any(|argument| argument.starts_with("--epoch=")) {
        let given = arguments.iter().find_map(|argument| argument.strip_prefix("--epoch="));
        let given = uidring_args::time(given.unwrap()).unwrap();
        assert_eq!(Timestamp::try_from(given).unwrap(), epoch);
    }
    assert!(Preset::ALL.iter().all(|preset| Preset::named(preset.name()) == Some(*preset)));
}
