//! `uidring-server`: see the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    uidring_server::main()
}
