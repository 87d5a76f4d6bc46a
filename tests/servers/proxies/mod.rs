//! What stands between programs and servers: PgBouncer, Pgpool-II, and HAProxy for TLS.

mod pgbouncer;
mod pgpool;

pub use pgbouncer::PgBouncer;
pub use pgpool::Pgpool;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::asking::pem;
use crate::databases::{free_port, is_root};

/// A process that is ended with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Sends it a signal, and waits for its end.
    fn end_by(&mut self, signal: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &id]).status();
        assert!(sent.expect("kill runs").success());
        let since = Instant::now();
        while self.0.try_wait().expect("a child").is_none() {
            if since.elapsed() > Duration::from_secs(20) {
                // Whoever drops it kills it.
                return;
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// Starts it, and waits until it listens at `port`.
    fn start(command: &mut Command, port: u16) -> Running {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let running = Running(child.spawn().expect("the proxy is installed"));
        let since = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(60), "{command:?} listens");
            sleep(Duration::from_millis(20));
        }
        running
    }
}

/// HAProxy, which speaks TLS at once, and without TLS to a server at another port.
pub struct HaProxy {
    port: u16,
    _process: Running,
    _folder: tempfile::TempDir,
}

impl HaProxy {
    pub fn start(server: u16) -> HaProxy {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let certificate = folder.path().join("both.pem");
        std::fs::write(&certificate, pem("127.0.0.1.pem") + &pem("127.0.0.1-key.pem")).unwrap();
        let settings = folder.path().join("settings");
        let text = format!(
            "defaults\n mode tcp\n timeout connect 10s\n timeout client 60s\n timeout server 60s\n\
             listen postgresql\n bind 127.0.0.1:{port} ssl crt {} alpn postgresql\n \
             tcp-request content reject unless {{ ssl_fc_alpn postgresql }}\n \
             server one 127.0.0.1:{server}\n",
            certificate.display()
        );
        std::fs::write(&settings, text).unwrap();
        let mut command = Command::new("/usr/sbin/haproxy");
        let process = Running::start(command.arg("-f").arg(&settings), port);
        HaProxy { port, _process: process, _folder: folder }
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

/// A command for a program that refuses to run as root, and for its folder.
fn as_postgres(folder: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        let status = Command::new("chown").args(["-R", "postgres"]).arg(folder).status();
        assert!(status.unwrap().success());
        command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]);
    }
    command.arg("--");
    command
}
