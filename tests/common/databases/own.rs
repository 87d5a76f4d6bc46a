//! A server of a test's own, to be stopped and killed.

#[path = "../folder.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod folder;
#[path = "../free_port.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod free_port;
#[path = "new_data.rs"]
mod new_data;
#[path = "../server_programs.rs"]
#[allow(clippy::duplicate_mod)] // other servers have it, too
mod server_programs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use folder::folder;
pub use free_port::free_port;
use new_data::copy_folder;
pub use server_programs::{has_mysql_itself, is_root};
use server_programs::{make_mysql, mysql_server, postgres_program, run, store_program};

use super::Server;

/// A server with an empty database, in a directory of its own. It ends with this.
pub struct OwnServer {
    kind: Server,
    dir: tempfile::TempDir,
    port: u16,
    process: Option<Child>,
    /// More arguments of the server's program.
    options: Vec<String>,
    /// Certificate and key, in PEM, and the authority of its clients' certificates, if it asks for
    /// them.
    tls: Option<Vec<String>>,
    /// The server's program.
    program: PathBuf,
}

impl OwnServer {
    pub fn start(kind: Server) -> OwnServer {
        OwnServer::start_with(kind, &[])
    }

    /// With more arguments to its program.
    pub fn start_with(kind: Server, options: &[&str]) -> OwnServer {
        OwnServer::make(kind, options, None, kind.program())
    }

    /// With a certificate and its key, in PEM.
    pub fn start_with_tls(kind: Server, certificate: String, key: String) -> OwnServer {
        OwnServer::make(kind, &[], Some(vec![certificate, key]), kind.program())
    }

    /// The same, which knows certificates of its clients by their `authority`.
    pub fn start_with_clients_of(
        kind: Server,
        certificate: String,
        key: String,
        authority: String,
    ) -> OwnServer {
        let files = vec![certificate, key, authority];
        OwnServer::make(kind, &[], Some(files), kind.program())
    }

    /// MySQL itself, with more arguments to its program, whatever the other servers are.
    pub fn start_mysql_9(options: &[&str]) -> OwnServer {
        OwnServer::make(Server::MySql, options, None, store_program("mysql-9", "mysqld"))
    }

    fn make(
        kind: Server,
        options: &[&str],
        tls: Option<Vec<String>>,
        program: PathBuf,
    ) -> OwnServer {
        let options: Vec<_> = options.iter().map(|option| (*option).to_owned()).collect();
        let dir = folder();
        let port = free_port();
        let data = dir.path().join("data");
        if is_root() {
            // The servers refuse to run as root.
            run(Command::new("chown").arg(kind.user()).arg(dir.path()));
        }
        let of_data: Vec<_> = options.iter().filter(|option| is_of_data(option)).collect();
        let (maker, mut command) = match kind {
            Server::Postgres => {
                let initdb = postgres_program("initdb");
                let mut command = as_server_user(kind, &initdb);
                command.args(["-U", "postgres", "-A", "trust", "--no-sync", "-D"]).arg(&data);
                (initdb, command)
            }
            Server::MySql => {
                let mut command = make_mysql(&program, &data);
                // In the system's temporary directory, other servers that start delete its files.
                command.env("TMPDIR", dir.path()).args(&of_data);
                (program.clone(), command)
            }
        };
        new_data::make(&mut command, &maker, &of_data, &data);
        let mut server = OwnServer { kind, dir, port, process: None, options, tls, program };
        server.write_certificate();
        server.launch();
        if kind == Server::MySql {
            kind.try_run(&server.url_of("mysql"), "CREATE DATABASE ids")
                .expect("a database is made");
        }
        server
    }

    /// Another server that begins with what this one has now. This one is stopped meanwhile.
    pub fn copy(&mut self) -> OwnServer {
        self.crash();
        let copy = self.copied(&[], copy_folder);
        self.launch();
        copy.launched()
    }

    /// The same. What copies the folder of data, from one path to another, is told by the test,
    /// and this one goes on.
    pub fn copy_running(&self, copy: impl FnOnce(&Path, &Path)) -> OwnServer {
        self.copied(&[], copy).launched()
    }

    fn copied(&self, options: &[&str], copy: impl FnOnce(&Path, &Path)) -> OwnServer {
        let dir = folder();
        if is_root() {
            run(Command::new("chown").arg(self.kind.user()).arg(dir.path()));
        }
        copy(&self.dir.path().join("data"), &dir.path().join("data"));
        OwnServer {
            kind: self.kind,
            dir,
            port: free_port(),
            process: None,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            tls: None,
            program: self.program.clone(),
        }
    }

    fn launched(mut self) -> OwnServer {
        self.launch();
        self
    }

    /// A standby of PostgreSQL, which gets each commit this much later.
    pub fn standby(&mut self, late: Duration) -> OwnServer {
        let late = format!("recovery_min_apply_delay={}", late.as_millis());
        let primary = format!("primary_conninfo=host=127.0.0.1 port={} user=postgres", self.port);
        self.crash();
        let standby = self.copied(&["-c", &late, "-c", &primary], copy_folder);
        fs::write(standby.data_file("standby.signal"), "").expect("a file");
        self.launch();
        standby.launched()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        self.url_of(match self.kind {
            Server::Postgres => "postgres",
            Server::MySql => "ids",
        })
    }

    fn url_of(&self, database: &str) -> String {
        match self.kind {
            Server::Postgres => format!("postgres://postgres@127.0.0.1:{}/{database}", self.port),
            Server::MySql => format!("mysql://root@127.0.0.1:{}/{database}", self.port),
        }
    }

    /// Runs statements, and returns what they select.
    pub fn run(&self, sql: &str) -> String {
        self.kind
            .try_run(&self.url(), sql)
            .unwrap_or_else(|complaint| panic!("the server runs {sql}: {complaint}"))
    }

    fn write_certificate(&self) {
        for (name, pem) in ["tls.crt", "tls.key", "tls.ca"].iter().zip(self.tls.iter().flatten()) {
            let path = self.dir.path().join(name);
            fs::write(&path, pem).expect("a certificate");
            // PostgreSQL wants to be the only one who can read the key.
            run(Command::new("chmod").arg("600").arg(&path));
            if is_root() {
                run(Command::new("chown").arg(self.kind.user()).arg(&path));
            }
        }
    }

    /// Has PostgreSQL ask `role`, which `sql` makes, for its password. Others need none.
    pub fn require_password(&self, sql: &str, role: &str) {
        self.run(sql);
        self.let_in_by(&format!("host all {role} all scram-sha-256"));
    }

    /// Has PostgreSQL go by these `rules` before those that let all in.
    pub fn let_in_by(&self, rules: &str) {
        let file = self.dir.path().join("data/pg_hba.conf");
        let trusting = fs::read_to_string(&file).expect("its rules");
        fs::write(&file, format!("{rules}\n{trusting}")).expect("its rules");
        self.run("SELECT pg_reload_conf()");
        sleep(Duration::from_millis(500));
    }

    fn launch(&mut self) {
        let (dir, data) = (self.dir.path(), self.dir.path().join("data"));
        let mut command = match self.kind {
            Server::Postgres => {
                let mut command = as_server_user(self.kind, &self.program);
                command.arg("-D").arg(data).arg("-k").arg(dir).args(["-p", &self.port.to_string()]);
                command.args(["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]);
                // The default of older versions is md5.
                command.args(["-c", "password_encryption=scram-sha-256"]);
                command
            }
            Server::MySql => {
                let mut command = as_server_user(self.kind, &self.program);
                command.arg("--no-defaults").arg(format!("--datadir={}", data.display()));
                command.arg(format!("--tmpdir={}", dir.display()));
                command.arg(format!("--socket={}", dir.join("socket").display()));
                command.arg(format!("--pid-file={}", dir.join("pid").display()));
                command.args([
                    &format!("--port={}", self.port),
                    "--bind-address=127.0.0.1",
                    "--max-connections=200",
                ]);
                command.arg("--innodb-buffer-pool-size=32M");
                command
            }
        };
        command.args(&self.options);
        if let Some(files) = &self.tls {
            let file = |name: &str| dir.join(name).display().to_string();
            let (certificate, key) = (file("tls.crt"), file("tls.key"));
            match self.kind {
                Server::Postgres => command.args(["-c", "ssl=on"]).args([
                    "-c".to_owned(),
                    format!("ssl_cert_file={certificate}"),
                    "-c".to_owned(),
                    format!("ssl_key_file={key}"),
                ]),
                Server::MySql => {
                    command.args([format!("--ssl-cert={certificate}"), format!("--ssl-key={key}")])
                }
            };
            match self.kind {
                _ if files.len() < 3 => &mut command,
                Server::Postgres => {
                    command.args(["-c", &format!("ssl_ca_file={}", file("tls.ca"))])
                }
                Server::MySql => command.arg(format!("--ssl-ca={}", file("tls.ca"))),
            };
        }
        let log =
            fs::File::options().create(true).append(true).open(dir.join("log")).expect("a log");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        self.process = Some(command.spawn().expect("the server starts"));
        let (since, probe) = (Instant::now(), self.url_of(self.kind.first_database()));
        while let Err(complaint) = self.kind.try_run(&probe, "SELECT 1") {
            let log = self.log();
            let ended = self.process.as_mut().expect("it was started").try_wait();
            let is_up = matches!(ended, Ok(None)) && since.elapsed() < Duration::from_secs(60);
            assert!(is_up, "the server answers: {complaint}; its log: {log}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Ends it without giving it time to do anything, as a crash does, and starts it again.
    pub fn crash_and_restart(&mut self) {
        self.crash();
        self.restart();
    }

    /// Has it end by itself, and starts it again with these arguments in place of those before.
    pub fn restart_with(&mut self, options: &[&str]) {
        if let Some(mut process) = self.process.take() {
            // PostgreSQL's other signal waits for its clients.
            let signal = if self.kind == Server::Postgres { "-INT" } else { "-TERM" };
            self.signal_all(&process, signal);
            process.wait().expect("the server ends");
        }
        self.options = options.iter().map(|option| (*option).to_owned()).collect();
        self.restart();
    }

    /// Starts it again after a crash.
    pub fn restart(&mut self) {
        self.launch();
    }

    /// The server's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).expect("a log")
    }

    /// What it says of clients that were gone without a word; empty if there was none.
    pub fn aborted_connections(&self) -> String {
        match self.kind {
            Server::Postgres => {
                let log = self.log();
                let lines = log
                    .lines()
                    .filter(|line| line.contains("EOF") || line.contains("reset by peer"));
                lines.collect::<Vec<_>>().join("\n")
            }
            Server::MySql => {
                let status = self.run("SHOW GLOBAL STATUS LIKE 'Aborted_clients'");
                if status.ends_with("\t0") { String::new() } else { status }
            }
        }
    }

    /// A file in the directory where the server keeps its data.
    pub fn data_file(&self, name: &str) -> PathBuf {
        self.dir.path().join("data").join(name)
    }

    pub fn crash(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        // What PostgreSQL calls an immediate shutdown: its processes end as they are, and the next
        // start recovers.
        self.signal_all(&process, if self.kind == Server::Postgres { "-QUIT" } else { "-KILL" });
        process.wait().expect("the server ends");
    }

    /// Stops it where it is: connections are accepted by the system, and nobody answers.
    pub fn pause(&self) {
        self.signal_all(self.process.as_ref().expect("the server runs"), "-STOP");
    }

    pub fn resume(&self) {
        self.signal_all(self.process.as_ref().expect("the server runs"), "-CONT");
    }

    fn signal_all(&self, process: &Child, name: &str) {
        let id = process.id().to_string();
        if self.kind == Server::Postgres && !["-QUIT", "-INT"].contains(&name) {
            // A process for each connection. There may be none.
            let _ = Command::new("pkill").args([name, "-P", &id]).status();
        }
        run(Command::new("kill").args([name, &id]));
    }

    /// Ends all connections.
    pub fn cut_connections(&self) {
        match self.kind {
            Server::Postgres => {
                self.run(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE application_name = 'uidring'",
                );
            }
            Server::MySql => {
                let others = "SELECT GROUP_CONCAT(CONCAT('KILL ', id) SEPARATOR ';') \
                              FROM information_schema.processlist \
                              WHERE db = 'ids' AND id <> CONNECTION_ID()";
                let kill = self.run(others);
                if kill != "NULL" {
                    // Some are gone by themselves.
                    let _ = self.kind.try_run(&self.url(), &kill);
                }
            }
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        if let Some(process) = &self.process {
            self.signal_all(process, "-CONT");
        }
        self.crash();
    }
}

/// Whether MySQL keeps to what it was told when it made its data.
fn is_of_data(option: &str) -> bool {
    option.starts_with("--lower-case-table-names")
}

impl Server {
    fn user(self) -> &'static str {
        match self {
            Server::Postgres => "postgres",
            Server::MySql => "mysql",
        }
    }

    /// The server's program: of MySQL's kind, the one that `UIDRING_TEST_MYSQL_SERVER` names.
    fn program(self) -> PathBuf {
        match self {
            Server::Postgres => postgres_program("postgres"),
            Server::MySql => mysql_server(),
        }
    }

    fn first_database(self) -> &'static str {
        match self {
            Server::Postgres => "postgres",
            Server::MySql => "mysql",
        }
    }
}

/// The program, as a user that its server accepts. The process is the program's own.
fn as_server_user(kind: Server, program: &Path) -> Command {
    server_programs::as_user(kind.user(), program)
}
