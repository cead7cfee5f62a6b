//! `haft completions`: a script by which a shell completes this command.

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::printed::print_as_it_is;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn completions(options: &CompletionsOptions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "haft", &mut script);
    // It is read by a shell and has no colours, so that it is written as it is.
    print_as_it_is(&script);
    Exit::Done
}
