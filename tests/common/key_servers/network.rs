//! A network of a test's own, from which each of its machines can be cut off.
//!
//! A machine is a network namespace of Linux, and a bridge joins them. All of them are in
//! namespaces of the test's own, so that they end with it whatever becomes of it.

use std::env;
use std::process::Command;

/// Set in the process that has namespaces of its own.
const INSIDE: &str = "UIDRING_TEST_INSIDE";

/// What the process does first in them. The names of machines are files in `/run`.
const ENTER: &str = "mount -t tmpfs none /run; mount -t proc none /proc; ip link set lo up; \
                     ip link add name bridge type bridge; ip addr add 10.77.0.254/24 dev bridge; \
                     ip link set bridge up; exec \"$@\"";

/// Runs `body`, which is the ignored test `name`, in a process that is in a network of its own.
pub fn with_network(name: &str, body: impl FnOnce()) {
    if env::var_os(INSIDE).is_some() {
        return body();
    }
    let this = env::current_exe().expect("this program");
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--"]);
    command.args(["sh", "-ec", ENTER, "sh"]).arg(this);
    command.args(["--exact", name, "--ignored", "--nocapture"]).env(INSIDE, "1");
    let output = command.output().expect("unshare runs");
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "no test is called {name}");
}

/// Where a program runs.
#[derive(Clone)]
pub enum Machine {
    /// Beside the test.
    Here,
    /// In the namespace of this number.
    Apart(u8),
}

impl Machine {
    /// A new one in the network of the test.
    pub fn new(number: u8) -> Machine {
        let machine = Machine::Apart(number);
        let (name, address) = (machine.name(), machine.address());
        ip(&["netns", "add", &name]);
        ip(&["link", "add", "name", &name, "type", "veth", "peer", "name", "eth0", "netns", &name]);
        ip(&["link", "set", &name, "master", "bridge", "up"]);
        ip(&["-n", &name, "addr", "add", &format!("{address}/24"), "dev", "eth0"]);
        ip(&["-n", &name, "link", "set", "eth0", "up"]);
        ip(&["-n", &name, "link", "set", "lo", "up"]);
        machine
    }

    pub fn address(&self) -> String {
        match self {
            Machine::Here => "127.0.0.1".to_owned(),
            Machine::Apart(number) => format!("10.77.0.{number}"),
        }
    }

    /// A command that runs there.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        match self {
            Machine::Here => Command::new(program),
            Machine::Apart(_) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", &self.name()]).arg(program);
                command
            }
        }
    }

    /// Whether the others reach it, and it reaches them. It still reaches itself.
    pub fn connect(&self, is_connected: bool) {
        ip(&["link", "set", &self.name(), if is_connected { "up" } else { "down" }]);
    }

    fn name(&self) -> String {
        match self {
            Machine::Here => unreachable!("it has no network of its own"),
            Machine::Apart(number) => format!("machine{number}"),
        }
    }
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().expect("ip runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments:?}: {complaint}");
}
