//! Whether a path leads to a file in which SQLite can keep what it commits.

use std::fs;
use std::io;
use std::path::Path;

#[cfg(any(unix, windows))]
use super::place::Place;
#[cfg(any(unix, windows))]
use crate::backend::address::ON_NETWORK;
use crate::backend::sql::Error;

/// Refuses a path that SQLite would refuse with fewer words, or not at all: a device such as
/// `/dev/null` takes every row and keeps none.
pub fn check(path: &Path, may_be_on_network: bool, create: bool) -> Result<(), Error> {
    let problem = match fs::metadata(path) {
        Ok(found) if found.is_file() => match problem(path, Some(&found), may_be_on_network) {
            Some(problem) => problem,
            None => return Ok(()),
        },
        Ok(found) if found.is_dir() => "it is a directory; give the path of a file".into(),
        Ok(_) => "it is not a regular file; give the path of one".into(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.parent() {
            Some(parent) if !parent.exists() => {
                format!("the directory {} does not exist; make it first", parent.display())
            }
            _ if create => match problem(path, None, may_be_on_network) {
                Some(problem) => problem,
                None => return Ok(()),
            },
            _ => "there is no such file; see that the path is right and that nobody has removed \
                  it"
            .into(),
        },
        Err(error) => {
            format!("{error}; see that the path is right and that this user may follow it")
        }
    };
    Err(Error::problem(problem))
}

/// What is wrong with where the file lies, or with how it can be found.
///
/// On a network file system, the locks of machines may not keep each other out: with NFS' `nolock`
/// none does. Nothing tells whether they do, so that is for whoever knows to permit.
///
/// SQLite keeps the journal of a file beside its name. After a crash, whoever comes by the name of
/// the crashed program undoes with its journal what those who came by another name have committed
/// meanwhile.
#[cfg(any(unix, windows))]
fn problem(path: &Path, found: Option<&fs::Metadata>, may_be_on_network: bool) -> Option<String> {
    let place = Place::of(path, found);
    if place.has_second_name() {
        return Some(
            "it has a second name, by a hard link; SQLite keeps its journal beside one name alone, \
             so that after a crash a program that comes by the other could undo what was given; \
             stop all programs, and remove the other name: if a file that ends in -journal lies \
             beside one of them, keep that one"
                .to_owned(),
        );
    }
    if place.is_link() {
        return Some(
            "it is a symbolic link, beside which SQLite would keep its journal, so that after a \
             crash a program that comes by the file's own name could undo what was given here; \
             give the path of the file that it leads to"
                .to_owned(),
        );
    }
    if place.is_mounted_alone() {
        return Some(
            "it is mounted by itself, without its folder, where SQLite keeps its journal, so that \
             after a crash a program that uses it from another place could undo what was given \
             here; mount the folder that it lies in"
                .to_owned(),
        );
    }
    let network = if may_be_on_network { None } else { place.network() }?;
    Some(format!(
        "it is on a network file system, {network}, whose locks need not keep programs of several \
         machines apart, so that both could give the same ids; put it on a disk of this machine, \
         or use a server; or, if programs of one machine alone have it open, or you know that the \
         locks hold, name it by sqlite:{path}{ON_NETWORK}",
        path = path.display()
    ))
}

#[cfg(not(any(unix, windows)))]
fn problem(_: &Path, _: Option<&fs::Metadata>, _: bool) -> Option<String> {
    None
}
