//! Which registry it is: the user's own, and addresses.

use std::fs;
use std::process::Output;

use tempfile::TempDir;
use uidring::Layout;

use crate::{folder, registry, run, stderr, stdout, text, uidring, uids};

#[test]
fn runs_in_any_folder_share_the_users_registry() {
    let (home, work) = (folder(), [folder(), folder()]);
    let take = |place: &TempDir| {
        let mut command = uidring(home.path(), &["take"]);
        command.current_dir(place.path()).output().unwrap()
    };
    let [first, second] = work.each_ref().map(take);
    let worker = |output: &Output| Layout::DEFAULT.parts(uids(&text(&output.stdout))[0]).worker;
    assert_eq!([worker(&first), worker(&second)], [1, 2]);
    for place in &work {
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing in the folder");
    }
    let path = registry(home.path());
    assert_eq!(text(&first.stderr), format!("uidring: created the registry {}\n", path.display()));
    assert_eq!(text(&second.stderr), "");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[test]
fn a_registry_that_is_made_is_told_with_its_full_path() {
    let folder = folder();
    for (db, args) in
        [("here.db", &["take"][..]), ("there.db", &["status", "--for", "50ms", "--json"])]
    {
        let path = folder.path().join(db);
        let args = &[args, &["--db", db]].concat();
        let said = format!("uidring: created the registry {}\n", path.display());
        assert_eq!(text(&run(folder.path(), args).stderr), said);
        assert_eq!(text(&run(folder.path(), args).stderr), "", "only when it is made");
    }
}

#[test]
fn a_text_that_is_no_path_makes_no_file() {
    let folder = folder();
    for db in [
        "host=db dbname=ids user=me password=hunter2",
        "user=me host=db password=hunter2",
        "password=hunter2",
        "oracle://me:hunter2@db/ids",
        "mysql:/me:hunter2@db/ids",
        "file:uidring.db",
        "jdbc:mysql:replication://db/ids?password=hunter2",
    ] {
        for args in [&["take", "--db", db][..], &["workers", "--db", db]] {
            let complaint = stderr(folder.path(), args, 1);
            assert!(complaint.contains("a store is a file, or an address"), "{complaint}");
            assert!(!complaint.contains("hunter2"), "{complaint}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{db} makes no file");
    }
    let complaint = stderr(folder.path(), &["take", "--db", "sqlite:///ids.db"], 1);
    assert!(complaint.contains("sqlite:///ids.db is ids.db in the folder of"), "{complaint}");
    assert!(
        complaint.contains("write the path of the file alone, /ids.db or ./ids"),
        "{complaint}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file is made");
    // As a path it is one.
    stdout(folder.path(), &["take", "--db", "./user=me.db"]);
    assert!(folder.path().join("user=me.db").exists());
    stdout(folder.path(), &["take", "--db", "sqlite:uidring.db"]);
    assert!(folder.path().join("uidring.db").exists());
}

#[test]
fn no_password_is_shown() {
    let folder = folder();
    for args in [
        // Nobody listens at this port.
        &["take", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"][..],
        &["take", "--db", "mysql://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--db", "mysql://me:hunter2@127.0.0.1:99999/ids"],
        &["take", "--db", "mysql://me:hunter2@127.0.0.1:1"],
        &["take", "--db", "mysql://me:hunter2?x@127.0.0.1:1/ids"],
        &["take", "--db", "postgres://me:hunter2?x@127.0.0.1:1/ids"],
        &["take", "--db", "mysql://127.0.0.1:1/ids?password=hunter2"],
        &["take", "--db", "postgres://127.0.0.1:1/ids?password=hunter2&strange=1"],
        &["take", "--db", "oracle://me:hunter2@127.0.0.1/ids"],
        &["workers", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["workers", "release", "1", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["tags", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["tags", "create", "orders", "--db", "mysql://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--tag", "orders", "--db", "mysql://me:hunter2@127.0.0.1:1/ids"],
        &["parse", "--db", "postgres://me:hunter2@127.0.0.1:1/ids", "1"],
        &["status", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--db", "etcd://me:hunter2@127.0.0.1:1/ids"],
        &["workers", "--db", "zookeeper://me:hunter2@127.0.0.1:1/ids"],
        &["tags", "--table", "cosid", "--db", "redis://me:hunter2@127.0.0.1:1/0/ids"],
        &["tags", "--table", "cosid", "--db", "etcd://me:hunter2@127.0.0.1:1/ids"],
        &["take", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--bd=postgres://me:hunter2@127.0.0.1:1/ids"],
    ] {
        let output = run(folder.path(), args);
        let complaint = text(&output.stderr);
        assert!(
            !output.status.success() && complaint.starts_with("uidring: "),
            "{args:?}: {complaint}"
        );
        assert!(
            !complaint.contains("hunter2") && text(&output.stdout).is_empty(),
            "{args:?}: {complaint}"
        );
    }
}

#[cfg(all(
    feature = "etcd",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "zookeeper"
))]
#[test]
fn a_character_that_ends_a_password_is_told_before_a_server_is_asked() {
    let folder = folder();
    for scheme in ["postgres", "postgresql", "mysql", "etcd", "etcds", "zookeeper", "rediss"] {
        for rest in [
            "t:pQ7@ssQ7/wQ7:rdQ7@host.invalid/ids",
            "t:pQ7/ssQ7@h1.invalid:1,h2.invalid:2/ids",
            "t:pQ7#ssQ7@host.invalid/ids",
            "t:pQ7?ssQ7@host.invalid/ids",
            "t:pQ7%ssQ7@host.invalid/ids",
        ] {
            let url = format!("{scheme}://{rest}");
            for args in [&["take", "--db", &url][..], &["tags", "--db", &url]] {
                let complaint = stderr(folder.path(), args, 1);
                let said = complaint.contains("@, #, ?, : and %, write these as %2F, %40, %23, ");
                assert!(said && !complaint.contains("Q7"), "{args:?}: {complaint}");
            }
        }
    }
}

#[cfg(all(feature = "mysql", feature = "postgres"))]
#[test]
fn an_address_may_name_an_authority() {
    let folder = folder();
    fs::write(folder.path().join("empty.pem"), "").unwrap();
    for url in [
        "postgres://me:hunter2@db/ids?sslrootcert=empty.pem",
        "mysql://me:hunter2@db/ids?ssl-ca=empty.pem",
    ] {
        let complaint = stderr(folder.path(), &["take", "--db", url], 1);
        assert!(complaint.contains("empty.pem: it holds no certificate"), "{complaint}");
    }
}

#[test]
fn an_address_says_how_to_build_what_is_missing() {
    for (is_there, url, what, feature) in [
        (cfg!(feature = "postgres"), "postgres://me:hunter2@db/ids", "PostgreSQL", "postgres"),
        (cfg!(feature = "postgres"), "postgresql://db/ids", "PostgreSQL", "postgres"),
        (cfg!(feature = "mysql"), "mysql://me:hunter2@db/ids", "MySQL and MariaDB", "mysql"),
        (cfg!(feature = "etcd"), "etcd://me:hunter2@db/ids", "etcd", "etcd"),
        (cfg!(feature = "redis"), "rediss://me:hunter2@db/0/ids", "Redis", "redis"),
        (cfg!(feature = "zookeeper"), "zookeeper://me:hunter2@db/ids", "ZooKeeper", "zookeeper"),
    ] {
        if !is_there {
            is_not_built_in(url, &format!("built without {what};"), feature);
        }
    }
}

fn is_not_built_in(url: &str, what: &str, feature: &str) {
    let folder = folder();
    for args in [
        &["take"][..],
        &["workers"],
        &["layout"],
        &["status", "--lease", "10m"],
        &["workers", "release", "1"],
    ] {
        let complaint = stderr(folder.path(), &[args, &["--db", url]].concat(), 1);
        assert!(
            complaint.contains(&url.replace(":hunter2", "")) && complaint.contains(what),
            "{complaint}"
        );
        assert!(
            complaint.contains(&format!("cargo install --path cli --features {feature}\n")),
            "{complaint}"
        );
    }
}

#[test]
fn the_table_of_uid_generator_is_on_a_mysql_server() {
    let folder = folder();
    for args in [
        &["take", "--uid-generator", "--layout", "29,21,13"][..],
        &["status", "--uid-generator", "--layout", "29,21,13", "--db", "here.db"],
        &["workers", "--uid-generator"],
        &["workers", "release", "1", "--uid-generator"],
        #[cfg(feature = "postgres")]
        &["workers", "--uid-generator", "--db", "postgres://db/ids"],
    ] {
        let complaint = stderr(folder.path(), args, 2);
        assert!(complaint.contains("on a MySQL or MariaDB server"), "{args:?}: {complaint}");
    }
    for term in [&["--lease", "10m"][..], &["--partition", "0/2"], &["--worker-ids", "5-9"]] {
        let args = [&["take", "--uid-generator", "--layout", "29,21,13"], term].concat();
        let complaint = stderr(folder.path(), &args, 2);
        assert!(complaint.contains("cannot be used with"), "{complaint}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}
