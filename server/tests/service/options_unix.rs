//! Options about what a Unix has: its sockets, its files and its limits.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use super::options::{check, refused_alike};
use crate::common::{GOOD, Server, command, folder};

/// Files and sockets that a start refuses: a check says the same.
#[test]
fn a_check_refuses_the_files_and_sockets_that_a_start_refuses() {
    let prepared = folder();
    let file = |name: &str| prepared.path().join(name).display().to_string();
    drop(Server::start(&["--db", &file("linked.db")]).stop());
    fs::hard_link(file("linked.db"), file("second.db")).unwrap();
    fs::write(file("no-socket"), "").unwrap();
    let long = format!("unix:{}", file(&"x".repeat(120)));
    let (in_nowhere, no_socket) =
        (format!("unix:{}", file("nowhere/s")), format!("unix:{}", file("no-socket")));
    let new = file("new.db");
    refused_alike(
        prepared.path(),
        &new,
        &[
            ("/dev/null", &[], "it is not a regular file"),
            (&file("second.db"), &[], "it has a second name"),
            (&new, &["--listen", &in_nowhere], "cannot listen on unix:"),
            (&new, &["--listen", &no_socket], "a file is there that is no socket"),
            (&new, &["--resp-listen", &long], "cannot listen on unix:"),
            (&new, &["--listen=systemd:a", "--resp-listen=systemd:a"], "systemd"),
        ],
    );
}

/// Too few open files, which a shell sets.
#[test]
#[cfg(target_os = "linux")]
fn a_check_refuses_too_few_open_files_as_a_start_does() {
    let folder = folder();
    let ended = |check: &str| {
        let program = env!("CARGO_BIN_EXE_uidring-server");
        let line = format!("ulimit -n 40; exec {program} --listen 127.0.0.1:0 {check}");
        let mut shell = Command::new("/bin/sh");
        shell.env_clear().env("UIDRING_SERVER_DB", folder.path().join("ids.db"));
        let done = shell.args(["-c", &line]).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let (check, start) = (ended("--check"), ended(""));
    assert!(
        check.0 == Some(1) && check.1.contains("allows this process 40 open files"),
        "{check:?}"
    );
    assert_eq!(check, start);
}

/// A check beside the service that is to be started anew.
#[test]
fn a_check_says_where_a_program_listens_already() {
    let folder = folder();
    let socket = format!("unix:{}", folder.path().join("resp.sock").display());
    let server = Server::start_on(folder, &["--resp-listen", &socket]);
    let listen = format!("--listen={}", server.address);
    let args = [&*listen, "--resp-listen", &socket];
    let (code, text) = check(server.folder(), &args, &[]);
    let in_use = |place: &str| {
        format!("a program listens on {place} now: a start has to wait until it has ended\n")
    };
    let expected = GOOD.to_owned() + &in_use(&server.address.to_string()) + &in_use(&socket);
    assert_eq!((code, text), (Some(0), expected));
    let folder = server.stop();
    // A socket that nobody listens on is replaced at a start, and stays at a check.
    drop(UnixListener::bind(folder.path().join("resp.sock")).unwrap());
    let (code, text) = check(folder.path(), &args, &[]);
    assert_eq!((code, text), (Some(0), GOOD.to_owned()));
    assert!(folder.path().join("resp.sock").exists());
    let (code, text) = check(folder.path(), &["--listen=systemd:http"], &[]);
    let handed = "systemd has to hand over systemd:http at the start\n";
    assert_eq!((code, text), (Some(0), GOOD.to_owned() + handed));
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_is_an_error_of_generate() {
    let folder = folder();
    for what in ["config", "man", "bash", "fish", "zsh"] {
        let generate = |stdout: Stdio| {
            let mut command = command(folder.path());
            command.arg(format!("--generate={what}")).stdout(stdout).output().unwrap()
        };
        let full = File::options().write(true).open("/dev/full").unwrap();
        let done = generate(full.into());
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{what}: {stderr}");
        assert!(stderr.starts_with("uidring-server: cannot write to stdout: No space"), "{stderr}");
        // A reader that has seen enough is no error.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = generate(writer.into());
        assert_eq!((done.status.code(), done.stderr), (Some(0), Vec::new()), "{what}");
        assert_eq!(generate(Stdio::piped()).status.code(), Some(0), "{what}");
    }
}
