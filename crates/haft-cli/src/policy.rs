//! `haft policy`: checks, tests, explains, shows and trusts policy files.

pub(crate) mod arguments;
mod check;
mod decider;
mod explain;
mod lines;
mod show;
mod stream;
mod test;
mod trust;

pub(crate) use check::CheckedFile;
pub(crate) use decider::Decided;
pub(crate) use test::TestedPolicy;

use crate::exit::Exit;
use anyhow::Result;
use arguments::PolicyCommand;

/// Does what one of the subcommands says.
pub(crate) fn policy(command: &PolicyCommand) -> Result<Exit> {
    match command {
        PolicyCommand::Check(options) => check::check(options),
        PolicyCommand::Test(options) => test::test(options),
        PolicyCommand::Explain(options) => explain::explain(options),
        PolicyCommand::Show(options) => Ok(show::show(options)),
        PolicyCommand::Trust(options) => trust::trust(options),
        PolicyCommand::Untrust(options) => trust::untrust(options),
    }
}
