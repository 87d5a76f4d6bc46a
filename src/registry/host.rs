//! The machine that a generator starts on, for people who read the registry. Ids never derive from
//! it.

use std::env;
use std::path::Path;
use std::process;

use super::admin::WorkerKind;

/// What a generator's row says about its machine.
#[derive(Clone, Debug)]
pub struct Host {
    pub(super) name: String,
    pub(super) port: String,
    pub(super) kind: WorkerKind,
}

impl Host {
    /// Uses the given `name` and `port`.
    pub(super) fn new(name: &str, port: &str) -> Host {
        Host { name: printable(name), port: printable(port), kind: detect_kind() }
    }

    pub(super) fn detect() -> Host {
        Host::new(&this_host(), &process::id().to_string())
    }
}

/// The name of this machine, or this container.
pub fn this_host() -> String {
    printable(&gethostname::gethostname().to_string_lossy())
}

fn detect_kind() -> WorkerKind {
    let contained = is_set("KUBERNETES_SERVICE_HOST")
        // The marker files of Docker and Podman.
        || ["/.dockerenv", "/run/.containerenv"].into_iter().any(|mark| Path::new(mark).exists());
    if contained { WorkerKind::Container } else { WorkerKind::Actual }
}

fn is_set(variable: &str) -> bool {
    env::var(variable).is_ok_and(|value| !value.trim().is_empty())
}

/// `text` in a form that the table's checks accept. An unusual host name must not keep a generator
/// from starting.
fn printable(text: &str) -> String {
    let kept: String = text.chars().filter(|character| !character.is_control()).take(255).collect();
    if kept.is_empty() { "unknown".to_owned() } else { kept }
}
