//! Databases of a test's own on real servers.
//!
//! The servers are those at `UIDRING_TEST_POSTGRES` and `UIDRING_TEST_MYSQL`, else the ones of this
//! machine, with the users that Debian's packages make. They are spoken to by their own clients,
//! `psql` and `mariadb`.
#![allow(dead_code)] // each test program uses a part
#![allow(clippy::expect_used, clippy::panic)]

mod own;

#[allow(unused_imports)]
pub use own::{OwnServer, free_port, has_mysql_itself, is_root};

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a schema says to run where nothing but an old copy of a registry is left, and `largest` id
/// was given.
pub fn recipe(schema: &str, largest: u64) -> String {
    let lines = schema.lines().filter_map(|line| line.strip_prefix("--     "));
    let statements = lines.filter(|line| line.starts_with("UPDATE") || line.starts_with("DELETE"));
    statements.collect::<String>().replace("12345", &largest.to_string())
}

/// The tables that the schemas of servers make.
pub const TABLES: [&str; 9] = [
    "uidring_layout",
    "uidring_worker_node",
    "uidring_series",
    "uidring_series_version",
    "uidring_series_counter",
    "uidring_request",
    "uidring_pool",
    "uidring_loan",
    "uidring_segment",
];

/// A schema or database that is dropped at the end.
pub struct Database {
    /// Where a registry finds it.
    pub url: String,
    server: Server,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Postgres,
    MySql,
}

impl Server {
    /// The address, with a user who may make databases.
    pub fn url(self) -> String {
        let (variable, local) = match self {
            Server::Postgres => {
                ("UIDRING_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
            }
            Server::MySql => ("UIDRING_TEST_MYSQL", "mysql://root@127.0.0.1:3306/mysql"),
        };
        env::var(variable).unwrap_or_else(|_| local.to_owned())
    }

    /// Runs statements, and returns what they select.
    pub fn run(self, sql: &str) -> String {
        self.try_run(&self.url(), sql)
            .unwrap_or_else(|complaint| panic!("{self:?} runs {sql}: {complaint}"))
    }

    /// The same, on the server at `url`.
    fn try_run(self, url: &str, sql: &str) -> Result<String, String> {
        let mut client = self.client(url);
        client.args([if self == Server::Postgres { "-c" } else { "-e" }, sql]);
        let output = client
            .output()
            .unwrap_or_else(|error| panic!("the client of {self:?} is installed: {error}"));
        if output.status.success() {
            Ok(String::from_utf8(output.stdout)
                .expect("a client answers in UTF-8")
                .trim()
                .to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Runs statements on the server at `url`, each in a transaction of its own unless they say
    /// otherwise. A client's own commands may be among them. Returns whether all were run, and what
    /// they have said.
    pub fn script(self, url: &str, statements: &str) -> (bool, String) {
        let mut session = self
            .client(url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the client is installed");
        let mut input = session.stdin.take().expect("a pipe");
        let script = format!("{statements}\n");
        // A client that has met an error reads no further.
        let writer = std::thread::spawn(move || input.write_all(script.as_bytes()).is_ok());
        let output = session.wait_with_output().expect("a client ends");
        let was_read = writer.join().expect("a writer ends");
        let said = String::from_utf8(output.stdout).expect("a client answers in UTF-8");
        (was_read && output.status.success(), said)
    }

    fn client(self, url: &str) -> Command {
        match self {
            Server::Postgres => {
                let mut client = Command::new("psql");
                client.args(["-XqAt", "-v", "ON_ERROR_STOP=1", url]);
                client
            }
            Server::MySql => {
                let (user, host) = url
                    .trim_start_matches("mysql://")
                    .split_once('@')
                    .expect("an address has a user");
                let (user, password) = user.split_once(':').unwrap_or((user, ""));
                let (host, database) = host.split_once('/').expect("an address names a database");
                let (host, port) = host.split_once(':').unwrap_or((host, "3306"));
                let mut client = Command::new("mariadb");
                client.args([
                    "--batch",
                    "--skip-column-names",
                    "--skip-reconnect",
                    "-u",
                    user,
                    "-h",
                    host,
                    "-P",
                    port,
                    database,
                ]);
                client.env("MYSQL_PWD", password);
                client
            }
        }
    }

    /// An empty place, with a name that no other has.
    pub fn database(self) -> Database {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (made, now) =
            (MADE.fetch_add(1, Ordering::Relaxed), SystemTime::now().duration_since(UNIX_EPOCH));
        // A user has the same name, and a user of MySQL no more than 32 characters.
        let name = format!(
            "uidring_{:x}_{:x}_{made}",
            std::process::id(),
            now.expect("it is after 1970").as_micros()
        );
        let url = match self {
            Server::Postgres => {
                self.run(&format!("CREATE SCHEMA {name}"));
                format!("{}?options=-csearch_path={name}", self.url())
            }
            Server::MySql => {
                self.run(&format!("CREATE DATABASE {name}"));
                let url = self.url();
                format!("{}/{name}", url.rsplit_once('/').expect("an address names a database").0)
            }
        };
        Database { url, server: self, name }
    }
}

impl Database {
    /// Runs statements in it.
    pub fn run(&self, sql: &str) -> String {
        match self.server {
            Server::Postgres => self.server.run(&format!("SET search_path = {}; {sql}", self.name)),
            Server::MySql => self.server.run(&format!("USE {}; {sql}", self.name)),
        }
    }

    /// Runs statements in it, each in a transaction of its own unless they say otherwise. A
    /// client's own commands may be among them.
    pub fn script(&self, statements: &str) -> String {
        let place = match self.server {
            Server::Postgres => format!("SET search_path = {}", self.name),
            Server::MySql => format!("USE {}", self.name),
        };
        let script = format!("{place};\n{statements}");
        let (is_good, said) = self.server.script(&self.server.url(), &script);
        assert!(is_good, "{:?} runs {statements}", self.server);
        said
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements that lock rows, and holds the locks until it is dropped.
    pub fn lock(&self, sql: &str) -> Locked {
        let mut client = self.server.client(&self.server.url());
        client.args((self.server == Server::MySql).then_some("--unbuffered"));
        let mut session = client
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the client is installed");
        let place = match self.server {
            Server::Postgres => format!("SET search_path = {}", self.name),
            Server::MySql => format!("USE {}", self.name),
        };
        let input = session.stdin.as_mut().expect("a pipe");
        writeln!(input, "{place};\nBEGIN;\n{sql};\nSELECT 'locked';").expect("a client reads");
        let answer = BufReader::new(session.stdout.take().expect("a pipe"));
        let locked = answer.lines().any(|line| line.is_ok_and(|line| line == "locked"));
        assert!(locked, "{:?} runs {sql}", self.server);
        Locked(session)
    }
}

/// A session that holds locks.
pub struct Locked(Child);

impl Drop for Locked {
    fn drop(&mut self) {
        // At the end of its input it ends, and its transaction with it.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        match self.server {
            Server::Postgres => self.server.run(&format!("DROP SCHEMA {} CASCADE", self.name)),
            Server::MySql => self.server.run(&format!("DROP DATABASE {}", self.name)),
        };
    }
}
