//! An error and its causes, printed one after the other as most programs do, tell each thing once:
//! a cause is told by the error that has it, or returned by `source`, but not both.

use std::error::Error;
use std::fs;
use std::io;
use std::iter;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use uidring::registry::{MySqlRegistry, PostgresRegistry, SqliteRegistry};
use uidring::segment::{
    HttpSegments, MySqlSegments, PostgresSegments, SegmentError, SegmentSource, SqliteSegments,
};
use uidring::store::StoreError;
use uidring::{
    BuildError, Layout, LayoutError, RegistryError, ShutdownError, StorageError, TakeError,
    UidGenerator,
};

/// The texts of an error and of all its causes.
fn chain(error: &dyn Error) -> Vec<String> {
    let causes = iter::successors(error.source(), |&cause| cause.source());
    iter::once(error.to_string()).chain(causes.map(ToString::to_string)).collect()
}

/// Fails if one of them repeats a later one, or a part of itself.
fn assert_told_once(error: &dyn Error) -> String {
    let texts = chain(error);
    for (index, text) in texts.iter().enumerate() {
        for cause in &texts[index + 1..] {
            assert!(!text.contains(cause), "{text:?} tells its cause {cause:?}: {texts:#?}");
        }
    }
    let all = texts.join(": ");
    let parts: Vec<&str> = all.split(": ").collect();
    assert!(parts.windows(2).all(|pair| pair[0] != pair[1]), "told twice: {all}");
    all
}

/// The address of a port where nobody listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A driver's message passes through all layers.
#[test]
fn what_drivers_say_is_told_once() {
    let refused = closed();
    let mysql = format!("mysql://root@{refused}/ids");
    let postgres = format!("postgres://ids@{refused}/ids");
    let build = |builder: uidring::Builder| {
        builder.start_deadline(Duration::ZERO).build().map(drop).unwrap_err()
    };
    let of = |error: Box<dyn Error>| assert_told_once(&*error);
    let tags =
        |result: Result<_, SegmentError>| of(Box::new(Result::<Vec<_>, _>::unwrap_err(result)));
    for text in [
        of(Box::new(build(UidGenerator::builder().registry(MySqlRegistry::open(&mysql).unwrap())))),
        of(Box::new(build(
            UidGenerator::builder().registry(PostgresRegistry::open(&postgres).unwrap()),
        ))),
        tags(MySqlSegments::open(&mysql).unwrap().tags()),
        tags(PostgresSegments::open(&postgres).unwrap().tags()),
        tags(HttpSegments::new([format!("http://{refused}")], "").tags()),
    ] {
        assert_eq!(text.matches("os error").count(), 1, "{text}");
        assert_eq!(text.matches("Input/output").count(), usize::from(text.contains("mysql:")));
    }
}

#[test]
fn what_sqlite_says_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids.db");
    fs::write(&file, "This is no database, and it is long enough to have a header of its own.")
        .unwrap();
    for error in [
        Box::new(SqliteRegistry::open(&file).map(drop).unwrap_err()) as Box<dyn Error>,
        Box::new(SqliteSegments::open(&file).map(drop).unwrap_err()),
        Box::new(SqliteRegistry::open(folder.path()).map(drop).unwrap_err()),
        Box::new(SqliteSegments::open(folder.path()).map(drop).unwrap_err()),
        Box::new(SqliteSegments::open(folder.path().join("no/ids.db")).map(drop).unwrap_err()),
    ] {
        assert_told_once(&*error);
    }
}

/// Each kind of error that has a cause, with one that says something of its own.
#[test]
fn no_error_repeats_its_cause() {
    let said = || io::Error::other("the plug was pulled");
    let shared = || -> Arc<dyn Error + Send + Sync> { Arc::new(said()) };
    let text = || "here".to_owned();
    let storage = || {
        [
            StorageError::Unusable { what: text(), problem: text(), source: Some(shared()) },
            StorageError::Unreachable { what: text(), problem: text(), source: Some(shared()) },
            StorageError::Full { what: text(), source: shared() },
            StorageError::Failed { doing: text(), source: shared() },
        ]
    };
    let registry = || {
        let others = [RegistryError::unreachable(said()), RegistryError::other(said())];
        storage().map(RegistryError::from).into_iter().chain(others)
    };
    let mut errors: Vec<Box<dyn Error>> = Vec::new();
    for error in storage() {
        errors.push(Box::new(error));
    }
    for error in storage() {
        errors.push(Box::new(StoreError::Address(error)));
    }
    for error in registry() {
        errors.push(Box::new(error));
    }
    for error in registry() {
        errors.push(Box::new(BuildError::Registry(error)));
    }
    for last in registry() {
        let deadline = Duration::from_secs(1);
        errors.push(Box::new(BuildError::StartDeadline { deadline, tries: 3, last }));
    }
    for error in registry() {
        errors.push(Box::new(ShutdownError::NotReleased { worker: 7, source: Arc::new(error) }));
    }
    errors.push(Box::new(BuildError::Spawn(said())));
    errors.push(Box::new(ShutdownError::Spawn(said())));
    errors.push(Box::new(uidring::segment::BuildError::Spawn(said())));
    let others = [SegmentError::unreachable(said()), SegmentError::other(said())];
    for error in storage().map(SegmentError::from).into_iter().chain(others) {
        errors.push(Box::new(error));
    }
    for error in &errors {
        let all = assert_told_once(&**error);
        assert_eq!(all.matches("the plug was pulled").count(), 1, "{all}");
    }
    let ended = SegmentError::Ended { cause: TakeError::ShutDown };
    assert!(assert_told_once(&ended).contains("was closed"));
}

/// Many programs print an error without its causes.
#[test]
fn a_start_that_failed_says_why_without_its_causes() {
    let last = RegistryError::from(StorageError::Unreachable {
        what: "the registry db.example.com".to_owned(),
        problem: "the connection was refused".to_owned(),
        source: None,
    });
    let error = BuildError::StartDeadline { deadline: Duration::from_secs(30), tries: 16, last };
    assert_eq!(
        error.to_string(),
        "no worker id within 30 s, in 16 tries: cannot reach the registry db.example.com: the \
         connection was refused"
    );
}

/// A quota of ZooKeeper or etcd is not the disk.
#[test]
fn what_is_full_may_be_a_quota() {
    let source = Arc::new(io::Error::other("the quota of the node /ids is used up"));
    let error = StorageError::Full { what: "the tags in h".to_owned(), source };
    assert!(error.to_string().contains("its disk or its quota is full"), "{error}");
}

/// Each with a time of nine digits.
#[test]
fn times_have_three_digits_and_a_unit() {
    let time = Duration::new(1, 234_567_891);
    let now = SystemTime::UNIX_EPOCH;
    let locked = StorageError::Locked { what: "the registry ids.db".to_owned(), waited: time };
    let late = StorageError::Overtaken { what: "the tags in h".to_owned(), waited: time };
    let errors: [Box<dyn Error>; 10] = [
        Box::new(RegistryError::from(locked.clone())),
        Box::new(SegmentError::from(late)),
        Box::new(RegistryError::UsedAhead { worker: 7, used: now, now, wait: time }),
        Box::new(BuildError::StartDeadline {
            deadline: time,
            tries: 3,
            last: RegistryError::LeaseLost { worker: 7 },
        }),
        Box::new(BuildError::Limits { max_lead: time, max_lag: time, tick: time }),
        Box::new(BuildError::ForwardJump { now, last: now, max_forward_jump: time }),
        Box::new(ShutdownError::Deadline { worker: 7, deadline: time }),
        Box::new(SegmentError::from(locked)),
        Box::new(SegmentError::NotGivenBack { waited: time }),
        Box::new(TakeError::LeadLimit { retry_in_ms: 1_234 }),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.contains("1.23 s"), "{text}");
        assert!(!text.contains("1.234"), "{text}");
    }
    let error = Layout::DEFAULT.with_tick(time).unwrap_err();
    assert!(matches!(error, LayoutError::Tick { .. }), "{error}");
}
