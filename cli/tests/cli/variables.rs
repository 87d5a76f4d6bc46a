//! Variables of the environment, and names in other spellings.

use std::fs;

use crate::{folder, json, registry, text, uidring};

#[test]
fn the_environment_names_a_registry() {
    let folder = folder();
    let with = |db: &str, args: &[&str]| {
        let output = uidring(folder.path(), args).env("UIDRING_DB", db).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let taken = with("there.db", &["take", "--layout", "35,10,15"]);
    assert!(folder.path().join("there.db").exists() && !registry(folder.path()).exists());
    assert!(with("there.db", &["workers"]).ends_with("\n1 of 1,023 worker ids used\n"));
    let time_bits = |args: &[&str]| json(&with("there.db", args))["time_bits"].clone();
    assert_eq!(time_bits(&["layout", "--json"]), 35);
    let parsed = json(&with("there.db", &["parse", "--json", taken.trim()]));
    assert_eq!(parsed["worker"], 1);
    // What is asked for comes first.
    assert_eq!(time_bits(&["layout", "--json", "--preset", "default"]), 30);
    with("there.db", &["take", "--db", "here.db"]);
    assert!(
        with("there.db", &["workers", "--db", "here.db"])
            .ends_with("\n1 of 1,048,575 worker ids used\n")
    );
    // A trial is no start.
    with("there.db", &["status", "--for", "50ms"]);
    assert!(with("there.db", &["workers"]).ends_with("\n1 of 1,023 worker ids used\n"));
    let help = with("mysql://me:hunter2@db/ids", &["take", "--help"]);
    assert!(help.contains("[env: UIDRING_DB]") && !help.contains("hunter2"), "{help}");
}

#[test]
fn a_misspelt_variable_is_told() {
    let folder = folder();
    let output = uidring(folder.path(), &["layout"]).env("UIDRING_BD", "x.db").output().unwrap();
    assert!(output.status.success());
    let said = text(&output.stderr);
    let expected = "uidring: the variable UIDRING_BD has no effect; did you mean UIDRING_DB?\n";
    assert_eq!(said, expected);
    let others = [("UIDRING_SERVER_DB", "x"), ("UIDRING_SERVER_LISTE", "x")];
    let output = uidring(folder.path(), &["layout"]).envs(others).output();
    assert_eq!(text(&output.unwrap().stderr), "");
}

/// As frameworks and people hand names over.
#[test]
fn a_name_may_be_spelt_in_other_ways() {
    let folder = folder();
    for option in
        ["--max-lead", "--max_lead", "--max.lead", "--maxLead", "--MAX-LEAD", "--MAX_LEAD"]
    {
        let joined = format!("{option}=soon");
        for args in [&["take", &joined][..], &["take", option, "soon"], &["status", option, "soon"]]
        {
            let output = uidring(folder.path(), args).output().unwrap();
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
            assert!(said.contains("'soon' for '--max-lead"), "{args:?}: {said}");
        }
    }
    for (variable, is_used) in
        [("UIDRING_DB", true), ("uidring.db", true), ("uidring_db", true), ("UIDRING.BD", false)]
    {
        let output = uidring(folder.path(), &["take"]).env(variable, "./named").output().unwrap();
        assert!(output.status.success(), "{variable}");
        let said = text(&output.stderr);
        assert_eq!(said.contains("has no effect"), !is_used, "{variable}: {said}");
        let named = folder.path().join("named");
        assert_eq!(named.exists(), is_used, "{variable}");
        let _ = fs::remove_file(named);
    }
}
