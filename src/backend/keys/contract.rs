//! What each store of keys must do, for the tests of each.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::{Action, Change, Deadline, Entry, KeyStore, Session, Version};

/// Where a server syncs each second, each commit takes up to one.
const TIME: Duration = Duration::from_secs(60);

/// Checks all that [`Session`] promises and that one process can see. `store` has an empty folder.
pub fn check<K: KeyStore>(store: &K) {
    let deadline = Deadline::after(TIME);
    let mut session = store.connect(&deadline).unwrap();
    let mut other = store.connect(&deadline).unwrap();

    // Nothing is there.
    assert_eq!(session.read(&["a", "b/c"]).unwrap(), [None, None]);
    assert_eq!(session.list("b").unwrap(), []);
    assert_eq!(session.count("b").unwrap(), 0);

    // A key that must not be there is written once.
    assert!(session.commit(&[write("a", None, "1")]).unwrap());
    assert!(!other.commit(&[write("a", None, "2")]).unwrap());
    let a = read(&mut other, "a");
    assert_eq!(a.value, "1");

    // A key with another version, or that is not there, is not written.
    assert!(other.commit(&[write("a", Some(&a.version), "3")]).unwrap());
    assert!(!session.commit(&[write("a", Some(&a.version), "4")]).unwrap());
    assert!(!session.commit(&[write("b/c", Some(&a.version), "4")]).unwrap());
    let a = read(&mut session, "a");
    assert_eq!(a.value, "3");
    assert_eq!(session.read(&["b/c"]).unwrap(), [None]);

    // Several keys are written at once, or none is.
    let changes = [write("b/c", None, "5"), write("a", None, "6")];
    assert!(!session.commit(&changes).unwrap());
    assert_eq!(session.read(&["b/c"]).unwrap(), [None]);
    let changes = [write("b/c", None, "5"), write("a", Some(&a.version), "6")];
    assert!(session.commit(&changes).unwrap());
    let found = other.read(&["b/c", "nothing", "a"]).unwrap();
    let values: Vec<_> = found.iter().map(|entry| entry.as_ref().map(|it| &*it.value)).collect();
    assert_eq!(values, [Some("5"), None, Some("6")]);

    // A check writes nothing, and fails what is beside it.
    let (a, c) = (read(&mut session, "a"), read(&mut session, "b/c"));
    let check = |version| Change { key: "a", version, action: Action::Check };
    assert!(session.commit(&[check(Some(&a.version)), write("b/d", None, "7")]).unwrap());
    assert_eq!(read(&mut session, "a"), a);
    assert!(other.commit(&[write("a", Some(&a.version), "8")]).unwrap());
    assert!(!session.commit(&[check(Some(&a.version)), write("b/e", None, "9")]).unwrap());
    assert!(!session.commit(&[check(None), write("b/e", None, "9")]).unwrap());
    let absent = Change { key: "nothing", version: None, action: Action::Check };
    assert!(session.commit(&[absent, write("b/c", Some(&c.version), "10")]).unwrap());

    // A folder lists its own keys, with any names.
    let name = super::name_of("Überweisung / 1.%");
    assert_eq!(super::text_of(&name), "Überweisung / 1.%");
    assert!(session.commit(&[write(&format!("b/{name}"), None, "ü\n\"")]).unwrap());
    assert!(session.commit(&[write("bb/x", None, "11")]).unwrap());
    let mut listed = session.list("b").unwrap();
    listed.sort_by(|(one, _), (other, _)| one.cmp(other));
    let listed: Vec<_> = listed.iter().map(|(name, entry)| (&**name, &*entry.value)).collect();
    let mut expected = [("c", "10"), ("d", "7"), (&*name, "ü\n\"")];
    expected.sort_unstable();
    assert_eq!(listed, expected);
    assert_eq!(session.count("b").unwrap(), 3);

    // What is listed has the version that it is read with.
    for (name, entry) in session.list("b").unwrap() {
        assert_eq!(read(&mut session, &format!("b/{name}")), entry);
    }

    // A key is removed at its version, and can be written again.
    let c = read(&mut session, "b/c");
    let remove = Change { key: "b/c", version: Some(&c.version), action: Action::Remove };
    assert!(session.commit(std::slice::from_ref(&remove)).unwrap());
    assert!(!session.commit(std::slice::from_ref(&remove)).unwrap());
    assert_eq!(other.read(&["b/c"]).unwrap(), [None]);
    assert!(other.commit(&[write("b/c", None, "12")]).unwrap());

    let now = session.now().unwrap();
    assert!(now > 1_700_000_000_000, "{now}");
    session.end();
    other.end();
}

fn write<'a>(key: &'a str, version: Option<&'a Version>, value: &'a str) -> Change<'a> {
    Change { key, version, action: Action::Write(value) }
}

fn read(session: &mut impl Session, key: &str) -> Entry {
    session.read(&[key]).unwrap().remove(0).unwrap()
}
