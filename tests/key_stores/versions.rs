//! A newer version on the same keys, whose documents have members that this one does not know.

use std::time::Duration;

use uidring::segment::{SegmentSource, Tag};
use uidring::{RegistryOptions, Store, UidGenerator};

use crate::key_servers::redis::OwnRedis;

/// All stores keep the same documents.
#[test]
#[ignore = "needs Redis' server"]
fn members_of_a_newer_version_are_kept_on_redis() {
    let server = OwnRedis::start("");
    let store = Store::open(server.url("/0/ids")).unwrap();
    let start = |options: RegistryOptions| {
        let registry = store.registry_with(options).unwrap();
        let uids = UidGenerator::builder().registry(registry).build().unwrap();
        uids.take().unwrap();
        uids.worker_id()
    };
    let leased = || RegistryOptions::new().leased(Duration::from_secs(60));
    let tags = store.segments().unwrap();
    assert_eq!(start(leased()), 1);
    tags.create("orders", &Tag::new().step(10)).unwrap();

    let keys = ["layout", "workers/1", "segments/orders"].map(|key| format!("ids/{key}"));
    let read = |key: &str| server.run(&["GET", key]);
    for key in &keys {
        let newer = read(key).replacen('{', "{\"newer\":[1,\"kept\"],", 1);
        server.run(&["SET", key, &newer]);
    }
    let before: Vec<_> = keys.iter().map(|key| read(key)).collect();
    // A lease that was given back, a further worker id, and numbers.
    assert_eq!(start(leased()), 1);
    assert_eq!(start(RegistryOptions::new()), 2);
    assert_eq!(tags.load("orders", None).unwrap().first, 1);
    for (key, before) in keys.iter().zip(before) {
        let after = read(key);
        assert!(after.contains("\"newer\":[1,\"kept\"]"), "{key}: {after}");
        assert_ne!(after, before, "{key} was written");
    }
}
