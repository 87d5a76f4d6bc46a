use std::time::Duration;

use clap::Args;
use uidring::lend::LendOptions;

use uidring_layouts::{lease, length};

/// The options of a worker id that is lent.
#[derive(Args, Debug)]
pub struct LoanArgs {
    /// How long an id is held that is not renewed
    #[arg(long, value_name = "LENGTH", default_value = "10m", value_parser = lease)]
    pub lease: Duration,

    /// How long an id is nobody's after its lease: as long as clocks of two machines may differ
    #[arg(long, value_name = "LENGTH", default_value = "10m", value_parser = length)]
    rest: Duration,

    /// What the list of loans shows in place of this machine's name
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
}

impl LoanArgs {
    /// What the library is asked for.
    #[must_use]
    pub fn options(&self) -> LendOptions {
        let options = LendOptions::new().lease(self.lease).rest(self.rest);
        match &self.host {
            Some(host) => options.host(host),
            None => options,
        }
    }
}
