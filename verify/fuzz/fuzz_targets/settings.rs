//! The service's files: its options and its tokens. A key of the file is what the argument and the
//! variable are, a token allows what its lines say, and no error shows a password or a token.

#![no_main]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use toml::{Table, Value};
use uidring_fuzz::folder;
use uidring_server::fuzzing::{Rules, options};

/// What nothing may show.
const SECRET: &str = "Q7zX9kW3Q7zX9kW3";
const SECRETS: &str = "db = \"mysql://ids:Q7zX9kW3Q7zX9kW3@db/ids\"\n\
    admin-token = \"Q7zX9kW3Q7zX9kW3\"\n";
const TOKEN: &str = "[[token]]\ntoken = \"Q7zX9kW3Q7zX9kW3\"\ntags = [\"*\"]\n";

fuzz_target!(|text: &str| {
    if text.contains(SECRET) {
        return;
    }
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let file = FOLDER.get_or_init(folder).join("file.toml");
    let write = |text: &str| fs::write(&file, text).unwrap();
    let config = format!("--config={}", file.display());
    write(text);
    if text.contains("public") || text.contains("token]") {
        if let Ok(rules) = Rules::read(&file) {
            check(&rules, &text.parse().unwrap());
        }
        write(&format!("{TOKEN}{text}"));
        hides(Rules::read(&file).map(|rules| format!("{rules:?}")));
        return;
    }
    let read = options(&[&config]);
    write(&format!("{SECRETS}{text}"));
    hides(options(&[&config]));
    write("");
    if let Ok(table) = text.parse::<Table>() {
        other_ways(&config, &table, read);
    }
});

fn hides(told: Result<String, String>) {
    let (Ok(told) | Err(told)) = told;
    assert!(!told.contains(SECRET), "{told}");
}

/// The same on the command line, and by variables.
fn other_ways(config: &str, table: &Table, read: Result<String, String>) {
    let not_in_a_file = ["config", "check", "help", "version"];
    if not_in_a_file.iter().any(|key| table.contains_key(*key)) {
        assert!(read.is_err());
        return;
    }
    let texts: Option<Vec<(&String, String)>> =
        table.iter().map(|(key, value)| Some((key, text_of(value)?))).collect();
    let Some(texts) = texts else { return };
    let arguments = texts.iter().map(|(key, text)| format!("--{key}={text}"));
    let arguments: Vec<String> = [config.to_owned()].into_iter().chain(arguments).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Ok(read) = read else { return };
    assert_eq!(options(&arguments).as_ref(), Ok(&read));
    if texts.iter().any(|(_, text)| text.contains('\0')) {
        return;
    }
    let name = |key: &str| format!("UIDRING_SERVER_{}", key.to_ascii_uppercase().replace('-', "_"));
    for (key, text) in &texts {
        // SAFETY: no other thread of this process reads or writes variables.
        unsafe { env::set_var(name(key), text) };
    }
    assert_eq!(options(&[config]), Ok(read));
    for (key, _) in &texts {
        // SAFETY: as above.
        unsafe { env::remove_var(name(key)) };
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Array(values) => {
            Some(values.iter().map(text_of).collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => None,
    }
}

/// What a token may do by the lines of the file.
#[derive(Default)]
struct Grants {
    tags: Vec<String>,
    has_ids: bool,
    has_metrics: bool,
    is_admin: bool,
}

fn check(rules: &Rules, file: &Table) {
    let list = |value: Option<&Value>| {
        let texts = value.and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let public = list(file.get("public"));
    let has_public_uids = file.get("public_uids").and_then(Value::as_bool) == Some(true);
    let mut tokens: BTreeMap<&str, Grants> = BTreeMap::new();
    for token in file.get("token").and_then(Value::as_array).into_iter().flatten() {
        let grants = tokens.entry(token["token"].as_str().unwrap()).or_default();
        let is_admin = token.get("admin").and_then(Value::as_bool) == Some(true);
        grants.tags.extend(list(token.get("tags")));
        grants.has_ids |= token.get("role").is_none();
        grants.has_metrics |= token.get("role").is_some() || is_admin;
        grants.is_admin |= is_admin;
    }
    let mut tags = public.clone();
    tags.extend(tokens.values().flat_map(|grants| grants.tags.clone()));
    tags.extend(tags.clone().iter().map(|tag| tag.replace('*', "x")));
    tags.push("orders".to_owned());
    let nobody = Grants::default();
    let unknown = "unknown-0123456789";
    let others = [None, Some(unknown).filter(|token| !tokens.contains_key(token))];
    let all = tokens.iter().map(|(token, grants)| (Some(*token), grants));
    for (token, grants) in all.chain(others.map(|token| (token, &nobody))) {
        let [uids, metrics, admin] = rules.permissions(token);
        assert_eq!(uids, has_public_uids || grants.has_ids, "{token:?}");
        assert_eq!((metrics, admin), (grants.has_metrics, grants.is_admin), "{token:?}");
        for tag in &tags {
            let may = matches(&public, tag) || matches(&grants.tags, tag);
            assert_eq!(rules.may_take(token, tag), may, "{token:?} {tag:?}");
        }
    }
}

fn matches(patterns: &[String], tag: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => tag.starts_with(prefix),
        None => pattern == tag,
    })
}
