//! PgBouncer, which has many clients share a few connections.

use super::{Running, as_postgres};
use crate::asking::pem;
use crate::databases::free_port;

/// PgBouncer in front of the server at another port, with these lines in its settings.
pub struct PgBouncer {
    port: u16,
    _process: Running,
    _folder: tempfile::TempDir,
}

impl PgBouncer {
    pub fn start(server: u16, lines: &str) -> PgBouncer {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let users = file("users", "\"postgres\" \"\"\n\"secretive\" \"secret\"\n\"nobody\" \"\"\n");
        let certificate = file("tls.pem", &pem("127.0.0.1.pem"));
        let key = file("tls-key.pem", &pem("127.0.0.1-key.pem"));
        let settings = format!(
            "[databases]\npostgres = host=127.0.0.1 port={server}\n\
             missing = host=127.0.0.1 port={server} dbname=missing\n\
             gone = host=127.0.0.1 port=1\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {users}\nserver_login_retry = 1\n\
             query_wait_timeout = 1\nclient_tls_cert_file = {certificate}\n\
             client_tls_key_file = {key}\n{lines}\n"
        );
        let settings = file("settings", &settings);
        let mut command = as_postgres(folder.path());
        let process = Running::start(command.args(["pgbouncer", &settings]), port);
        PgBouncer { port, _process: process, _folder: folder }
    }

    /// The address of this user and database.
    pub fn url(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }
}
