//! Pgpool-II, which sends queries to a standby.

use super::{Running, as_postgres};
use crate::databases::{OwnServer, free_port};

/// Pgpool-II in front of a primary and its standby, which gets all queries that may go there.
pub struct Pgpool {
    port: u16,
    process: Running,
    _folder: tempfile::TempDir,
}

impl Drop for Pgpool {
    /// By the signal that it heeds at once: killed, it leaves its processes and 128 MiB of shared
    /// memory behind.
    fn drop(&mut self) {
        self.process.end_by("INT");
    }
}

impl Pgpool {
    /// With these lines in its settings.
    pub fn start(primary: &OwnServer, standby: &OwnServer, lines: &str) -> Pgpool {
        Pgpool::start_as("streaming_replication", primary, standby, lines)
    }

    /// In a mode of clusters of its own.
    pub fn start_as(mode: &str, primary: &OwnServer, standby: &OwnServer, lines: &str) -> Pgpool {
        let is_streaming = mode == "streaming_replication";
        let first = if is_streaming { "ALWAYS_PRIMARY|" } else { "" };
        let folder = tempfile::tempdir().unwrap();
        let (port, control) = (free_port(), free_port());
        let path = folder.path().display();
        let file = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            format!("{path}/{name}")
        };
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nsocket_dir = '{path}'\n\
             pcp_port = {control}\npcp_socket_dir = '{path}'\n\
             pid_file_name = '{path}/pid'\nlogdir = '{path}'\nwork_dir = '{path}'\n\
             backend_clustering_mode = '{mode}'\n\
             backend_hostname0 = '127.0.0.1'\nbackend_port0 = {}\nbackend_weight0 = 0\n\
             backend_flag0 = '{first}DISALLOW_TO_FAILOVER'\n\
             backend_hostname1 = '127.0.0.1'\nbackend_port1 = {}\nbackend_weight1 = 1\n\
             backend_flag1 = 'DISALLOW_TO_FAILOVER'\n\
             sr_check_user = 'postgres'\nsr_check_period = 0\nload_balance_mode = on\n\
             num_init_children = 16\nmax_pool = 1\n{lines}\n",
            primary.port(),
            standby.port()
        );
        let settings = file("settings", &settings);
        let (rules, control) = (file("rules", ""), file("control", ""));
        let mut command = as_postgres(folder.path());
        command.args(["pgpool", "-n", "-f", &settings, "-a", &rules, "-F", &control]);
        let process = Running::start(&mut command, port);
        Pgpool { port, process, _folder: folder }
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}
