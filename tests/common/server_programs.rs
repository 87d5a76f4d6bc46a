//! What starts and stops a database server: its programs, and the commands around them.
#![allow(dead_code)] // each test program uses a part

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command that has to succeed.
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} runs: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    id.stdout == b"0\n"
}

/// A program, as a user that its server accepts. The process is the program's own.
pub fn as_user(user: &str, program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--"]).arg(program);
    command
}

/// A program in the path.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.exists())
}

/// A program of PostgreSQL's server, which Debian keeps out of the path: the one in the path, if
/// there is one, else the newest.
pub fn postgres_program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let programs = versions.map(|version| version.path().join("bin").join(name));
    let newest = || programs.filter(|program| program.exists()).max();
    in_path(name).or_else(newest).unwrap_or_else(|| PathBuf::from(name))
}

/// The server of MySQL's kind that tests start: `mariadbd`, or `mysqld`, which is MySQL's own.
pub fn mysql_server() -> PathBuf {
    PathBuf::from(env::var_os("UIDRING_TEST_MYSQL_SERVER").unwrap_or_else(|| "mariadbd".into()))
}

/// Whether the tests run on MySQL itself, and not on MariaDB.
pub fn has_mysql_itself() -> bool {
    mysql_server().ends_with("mysqld")
}

/// The command with which a server of MySQL's kind makes its folder of data.
pub fn make_mysql(server: &Path, data: &Path) -> Command {
    let mut command;
    if server.ends_with("mysqld") {
        command = as_user("mysql", server);
        command.args(["--no-defaults", "--initialize-insecure"]);
    } else {
        command = as_user("mysql", Path::new("mariadb-install-db"));
        command.args(["--no-defaults", "--auth-root-authentication-method=normal"]);
        command.arg("--skip-test-db");
    }
    command.arg(format!("--datadir={}", data.display()));
    command
}

/// A program of a store that `verify/stores/install` has downloaded.
pub fn store_program(store: &str, program: &str) -> PathBuf {
    let program = store_folder(store).join("bin").join(program);
    assert!(program.exists(), "{} is missing: verify/stores/install {store}", program.display());
    program
}

/// The folder of such a store.
fn store_folder(store: &str) -> PathBuf {
    let stores = env::var_os("UIDRING_STORES").map(PathBuf::from);
    let in_folder = |folder: &Path| {
        let stores = folder.join("target/stores");
        stores.exists().then_some(stores)
    };
    let folders = || Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find_map(in_folder);
    stores.or_else(folders).unwrap_or_default().join(store)
}

/// The Java class path of ZooKeeper 3.9.
pub fn zookeeper_3_9_classes() -> String {
    let folder = store_folder("zookeeper-3.9");
    let list = fs::read_to_string(folder.join("classes"))
        .expect("ZooKeeper 3.9 is there: verify/stores/install zookeeper-3.9");
    // A path that is absolute takes the place of the folder.
    let paths = list.lines().map(|jar| folder.join("lib").join(jar).display().to_string());
    paths.collect::<Vec<_>>().join(":")
}
