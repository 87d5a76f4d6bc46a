//! `uidring completions` and `uidring man`: what the shell and `man` want to know of the tool.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::text::{self, Failure};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring completions bash > ~/.local/share/bash-completion/completions/uidring
  uidring completions zsh > ~/.zfunc/_uidring
  uidring completions fish > ~/.config/fish/completions/uidring.fish")]
pub(crate) struct Completions {
    /// For which shell
    shell: Shell,
}

impl Completions {
    /// Prints the script for `tool`.
    pub(crate) fn run(self, mut tool: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut tool, "uidring", &mut script);
        text::print_raw(&String::from_utf8_lossy(&script))
    }
}

/// Print a manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring man > uidring.1
  uidring man take > uidring-take.1
  uidring man workers release > uidring-workers-release.1")]
pub(crate) struct Manual {
    /// Of which command [default: of the tool]
    #[arg(value_name = "COMMAND")]
    path: Vec<String>,
}

impl Manual {
    /// Prints the page of `tool`, or of one of its commands.
    pub(crate) fn run(self, tool: Command) -> Result<(), Failure> {
        let mut tool = tool.disable_help_subcommand(true);
        // Gives each command its full name.
        tool.build();
        let mut command: &Command = &tool;
        for name in &self.path {
            command = command
                .find_subcommand(name)
                .ok_or_else(|| Failure::Usage(has_no_command(command, name)))?;
        }
        let mut page = Vec::new();
        Man::new(command.clone())
            .title(command.get_display_name().unwrap_or(command.get_name()))
            // Without a date the fields after it would take its place.
            .date(" ")
            .source(format!("uidring {}", env!("CARGO_PKG_VERSION")))
            .manual("User Commands")
            .render(&mut page)
            .map_err(Failure::Output)?;
        text::print_raw(&with_examples(&String::from_utf8_lossy(&page)))
    }
}

/// `page` with a heading of their own for the examples, each line as it is. `clap_mangen` puts them
/// under "EXTRA", and fills their lines as those of a paragraph.
fn with_examples(page: &str) -> String {
    let Some((before, rest)) = page.split_once("\n.SH EXTRA\nExamples:\n") else {
        return page.to_owned();
    };
    let (examples, after) = rest.split_at(rest.find(".SH ").unwrap_or(rest.len()));
    format!("{before}\n.SH EXAMPLES\n.nf\n{examples}.fi\n{after}")
}

fn has_no_command(command: &Command, name: &str) -> String {
    let full = command.get_bin_name().unwrap_or(command.get_name());
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    if names.is_empty() {
        format!("{full} has no commands, and so not {name}")
    } else {
        format!("{full} has no command {name}; it has {}", names.join(", "))
    }
}
