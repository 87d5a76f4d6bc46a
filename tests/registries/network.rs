//! A SQLite file on a network file system, whose locks need not keep machines apart.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use uidring::registry::SqliteRegistry;
use uidring::segment::SqliteSegments;
use uidring::{Store, UidGenerator};

use crate::mounted::Mounted;

/// What is said of the store at `address`; nothing where it gives an id.
fn said(address: impl AsRef<std::ffi::OsStr>) -> String {
    let start = || -> Result<(), Box<dyn std::error::Error>> {
        let store = Store::open(&address)?;
        store.segments()?;
        UidGenerator::builder().registry(store.registry()?).build()?.take()?;
        Ok(())
    };
    start().err().map_or_else(String::new, |error| error.to_string())
}

fn refused(text: &str, kind: &str) {
    let whole = format!("it is on a network file system, {kind}, whose locks need not keep");
    assert!(text.contains(&whole), "{text:?}");
}

#[test]
#[ignore = "needs root, FUSE and bindfs"]
fn a_file_on_a_network_file_system_is_refused_unless_told() {
    let local = tempfile::tempdir().unwrap();
    for kind in ["sshfs", "glusterfs", "nfs"] {
        let mounted = Mounted::as_a(Some(kind));
        let file = mounted.path().join("ids.db");
        let (kind, path) = (format!("fuse.{kind}"), file.display());
        let told = format!("sqlite:{path}?network_file_system=yes");
        // Before it is there, by a relative path and a link, too.
        refused(&said(&file), &kind);
        refused(&said(format!("sqlite:{path}")), &kind);
        refused(&SqliteRegistry::open(&file).unwrap_err().to_string(), &kind);
        refused(&SqliteSegments::open(&file).unwrap_err().to_string(), &kind);
        let link = local.path().join(kind.as_str());
        symlink(mounted.path(), &link).unwrap();
        refused(&said(link.join("ids.db")), &kind);
        assert!(!file.exists(), "nothing is made");
        // And when it is.
        assert_eq!(said(&told), "");
        refused(&said(&file), &kind);
        refused(&said(local.path().join(&kind).join("ids.db")), &kind);
        let link_to_file = local.path().join(format!("{kind}.db"));
        symlink(&file, &link_to_file).unwrap();
        refused(&said(&link_to_file), &kind);
        // The error names the address to write.
        assert!(said(&file).contains(&told), "{}", said(&file));
        assert_eq!(said(format!("sqlite:///{path}?network_file_system=yes")), "");
        assert!(
            said(format!("sqlite:{path}?network_file_system=no")).contains("one of ?, # and %")
        );
        // A generator that runs notices nothing of a mount, as it asks the store for nothing.
        assert_eq!(said(mounted.source().join("ids.db")), "");
    }
}

/// An encrypted folder, or one that is shown at another place.
#[test]
#[ignore = "needs root, FUSE and bindfs"]
fn a_file_system_in_user_space_may_be_local() {
    let mounted = Mounted::as_a(None);
    assert_eq!(said(mounted.path().join("ids.db")), "");
}

/// What is permitted without need changes nothing.
#[test]
fn a_local_file_may_be_told_to_be_on_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids.db");
    assert_eq!(said(format!("sqlite:{}?network_file_system=yes", file.display())), "");
    assert_eq!(said(&file), "");
    // A path is a path.
    let odd = format!("{}?network_file_system=yes", folder.path().join("odd.db").display());
    assert_eq!(said(&odd), "");
    assert!(fs::exists(Path::new(&odd)).unwrap());
}
