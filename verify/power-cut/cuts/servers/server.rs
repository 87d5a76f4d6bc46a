//! A server whose files the layer watches, from its start to its end.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::server_programs::{as_user, is_root, make_mysql, postgres_program, run, store_program};
use crate::life::Life;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Postgres,
    MariaDb,
    /// MySQL itself.
    MySql,
}

/// How often it is looked whether the power is still there.
const PAUSE: Duration = Duration::from_millis(2);
/// A server that takes longer for a start or an end hangs.
const PATIENCE: Duration = Duration::from_secs(60);

impl Kind {
    /// The user and the group of the server, if this is root: the servers refuse to run as that.
    fn user(self) -> &'static str {
        match self {
            Kind::Postgres => "postgres",
            Kind::MariaDb | Kind::MySql => "mysql",
        }
    }

    pub fn address(self, port: u16) -> String {
        match self {
            Kind::Postgres => format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            Kind::MariaDb | Kind::MySql => format!("mysql://root@127.0.0.1:{port}/ids"),
        }
    }

    /// What the server says when it takes calls.
    fn is_ready(self, line: &str) -> bool {
        match self {
            Kind::Postgres => line.contains("database system is ready to accept connections"),
            Kind::MariaDb | Kind::MySql => line.contains(": ready for connections."),
        }
    }

    /// The signal that ends the server in good order.
    fn end(self) -> &'static str {
        match self {
            Kind::Postgres => "-INT",
            Kind::MariaDb | Kind::MySql => "-TERM",
        }
    }

    /// Files that a start would take for another server that runs, as after any power failure.
    /// Distributions remove them when the machine starts.
    pub fn locks(self) -> &'static [&'static str] {
        match self {
            Kind::Postgres => &["postmaster.pid"],
            // It is not in the data folder.
            Kind::MariaDb | Kind::MySql => &[],
        }
    }

    /// A folder with a folder `data` of a server that has not run yet.
    pub fn template(self) -> TempDir {
        let folder = self.folder();
        let data = folder.path().join("data");
        match self {
            Kind::Postgres => run(self
                .program("initdb")
                .args(["-U", "postgres", "-A", "trust", "--no-sync", "--no-locale"])
                .args(["--wal-segsize=1", "-D"])
                .arg(&data)),
            Kind::MariaDb | Kind::MySql => {
                let mut make = make_mysql(&self.mysql_program(), &data);
                // In the system's temporary folder, another server that starts deletes its files.
                make.env("TMPDIR", folder.path()).arg(self.small_log());
                if self == Kind::MySql {
                    let statements = folder.path().join("init.sql");
                    fs::write(&statements, MYSQL_STATEMENTS).unwrap();
                    self.own(&statements);
                    make.arg(format!("--init-file={}", statements.display()));
                }
                run(&mut make);
                if self == Kind::MariaDb {
                    // A folder is all that a database is.
                    fs::create_dir(data.join("ids")).unwrap();
                    self.own(&data.join("ids"));
                }
            }
        }
        folder
    }

    /// A new folder, which belongs to the server's user.
    pub fn folder(self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.own(folder.path());
        folder
    }

    fn own(self, path: &Path) {
        if is_root() {
            let owner = format!("{0}:{0}", self.user());
            run(Command::new("chown").arg(owner).arg(path));
        }
    }

    fn mysql_program(self) -> PathBuf {
        match self {
            Kind::MySql => store_program("mysql-9", "mysqld"),
            _ => PathBuf::from("mariadbd"),
        }
    }

    fn small_log(self) -> &'static str {
        if self == Kind::MySql {
            "--innodb-redo-log-capacity=8M"
        } else {
            "--innodb-log-file-size=4M"
        }
    }

    /// One of the server's programs, as a user that it accepts. The process is the program's own.
    fn program(self, name: &str) -> Command {
        as_user(self.user(), &postgres_program(name))
    }

    /// Small memories and logs: pages are written, checkpoints made and files used again soon.
    fn command(self, folder: &Path, data: &Path, port: u16) -> Command {
        let mut command;
        match self {
            Kind::Postgres => {
                command = self.program("postgres");
                command.arg("-D").arg(data).args(["-p", &port.to_string(), "-k", ""]);
                for setting in POSTGRES_SETTINGS {
                    command.args(["-c", setting]);
                }
            }
            Kind::MariaDb | Kind::MySql => {
                command = as_user(self.user(), &self.mysql_program());
                command.arg("--no-defaults").arg(format!("--datadir={}", data.display()));
                command.arg(format!("--tmpdir={}", folder.display()));
                command.arg(format!("--socket={}", folder.join("socket").display()));
                command.arg(format!("--pid-file={}", folder.join("pid").display()));
                command.arg(format!("--port={port}")).args(MYSQL_SETTINGS).arg(self.small_log());
                if self == Kind::MySql {
                    // With its default, O_DIRECT, it syncs no doublewrite file: it trusts that a
                    // write past the caches of the system is on the disk. Where the disk has a
                    // cache of its own, a cut may leave a server that does not start again.
                    command.arg("--innodb-flush-method=fsync");
                }
            }
        }
        command
    }
}

const POSTGRES_SETTINGS: [&str; 8] = [
    "listen_addresses=127.0.0.1",
    "shared_buffers=256kB",
    "max_connections=20",
    "max_wal_size=2MB",
    "min_wal_size=2MB",
    "bgwriter_delay=10ms",
    "wal_writer_delay=10ms",
    "autovacuum_naptime=1s",
];
/// Names are not resolved, so that root is no user of a host with a name.
const MYSQL_STATEMENTS: &str = "CREATE DATABASE ids;\nRENAME USER root@localhost TO root@'%';\n";
const MYSQL_SETTINGS: [&str; 7] = [
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--innodb-buffer-pool-size=8M",
    "--innodb-max-dirty-pages-pct=0",
    // It goes round the layer, because it asks the kernel without libc.
    "--innodb-use-native-aio=0",
    "--innodb-buffer-pool-dump-at-shutdown=0",
    "--innodb-buffer-pool-load-at-startup=0",
];

pub struct Server {
    kind: Kind,
    process: Child,
    /// What the server says. All of its processes hold the other end, so that it is closed when
    /// the last one has ended.
    lines: Receiver<String>,
    said: Vec<String>,
    /// Another group may have the number now.
    is_over: bool,
}

impl Server {
    /// Starts the server on `data`, a folder in `folder`.
    pub fn start(
        kind: Kind,
        (folder, data, port): (&Path, &Path, u16),
        life: &Life,
        layer: &Path,
    ) -> Server {
        let mut command = kind.command(folder, data, port);
        life.watch(&mut command, layer, data);
        // The layer keeps all processes in this group.
        command.process_group(0).current_dir(folder).env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the server starts");
        let output = BufReader::new(process.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.split(b'\n').map_while(Result::ok) {
                // Nobody listens any more where a test has failed.
                let _ = sender.send(String::from_utf8_lossy(&line).into_owned());
            }
        });
        Server { kind, process, lines, said: Vec::new(), is_over: false }
    }

    /// Waits until the server takes calls, and says whether it does. Not if the power fails.
    pub fn await_ready(&mut self, life: &Life) -> bool {
        self.listen(life, Kind::is_ready)
    }

    /// Has the server end by itself, which is cut off if the power fails, and says how it ended.
    pub fn shut_down(mut self, life: &Life) -> (ExitStatus, String) {
        let id = self.process.id().to_string();
        run(Command::new("kill").args([self.kind.end(), &id]));
        self.listen(life, |_, _| false);
        self.wait()
    }

    /// Takes the power from all processes, and returns what the server has said.
    pub fn end(self) -> String {
        self.kill();
        self.wait().1
    }

    fn wait(mut self) -> (ExitStatus, String) {
        self.said.extend(self.lines.iter());
        self.is_over = true;
        (self.process.wait().unwrap(), self.said.join("\n"))
    }

    /// Listens until a line is `wanted`, and says whether one came before the last process ended.
    fn listen(&mut self, life: &Life, wanted: fn(Kind, &str) -> bool) -> bool {
        let since = Instant::now();
        loop {
            match self.lines.recv_timeout(PAUSE) {
                Ok(text) => {
                    let is_wanted = wanted(self.kind, &text);
                    self.said.push(text);
                    if is_wanted {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) if !life.has_power() => self.kill(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if since.elapsed() > PATIENCE {
                self.kill();
                panic!("the server hangs: {}", self.said.join("\n"));
            }
        }
    }

    /// Kills all processes of the server. There may be none any more.
    pub fn kill(&self) {
        let group = format!("-{}", self.process.id());
        let mut kill = Command::new("kill");
        let _ = kill.args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill();
        }
    }
}

/// Makes `to` a copy of the folder `from`, with its owners.
pub fn copy(from: &Path, to: &Path) {
    run(Command::new("cp").arg("-a").arg(from).arg(to));
}
