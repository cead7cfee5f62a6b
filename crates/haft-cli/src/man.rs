//! `haft man`: the pages of the manual, made of what `--help` shows.

mod markdown;

use crate::arguments::Arguments;
use crate::exit::{Exit, UsageError};
use crate::paint::{GOOD, NAME};
use crate::printed::print_as_it_is;
use crate::timeline::visible;
use anyhow::{Context as _, Result};
use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// The command whose page is printed, as `mcp add`; that of `haft` itself by default
    #[arg(conflicts_with_all = ["dir", "markdown"])]
    command: Vec<String>,
    /// Write the pages of all commands into this directory, which is made if it is missing
    #[arg(long, value_name = "DIR", conflicts_with = "markdown")]
    dir: Option<PathBuf>,
    /// Print all commands as one page of Markdown
    #[arg(long)]
    markdown: bool,
}

/// Prints or writes pages.
pub(crate) fn man(options: &ManOptions) -> Result<Exit> {
    let manual = manual();
    if options.markdown {
        return Ok(print(markdown::page(&manual).as_bytes()));
    }
    if let Some(folder) = &options.dir {
        return write_all(&manual, folder);
    }
    Ok(print(&rendered(named(&manual, &options.command)?)))
}

/// The commands, each with the name by which it is called, and without those that show `--help` in other words.
fn manual() -> Command {
    let mut manual = Arguments::command().disable_help_subcommand(true);
    manual.build();
    manual
}

fn print(page: &[u8]) -> Exit {
    // A pager reads it, so that it is written as it is.
    print_as_it_is(page);
    Exit::Done
}

fn rendered(command: &Command) -> Vec<u8> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .source(concat!("haft ", env!("CARGO_PKG_VERSION")))
        .manual("Manual of haft")
        .render(&mut page)
        .expect("writing into memory does not fail");
    page
}

fn named<'a>(manual: &'a Command, names: &[String]) -> Result<&'a Command> {
    names.iter().try_fold(manual, |command, name| {
        command.find_subcommand(name).with_context(|| {
            let (of, name) = (shown_name(command), visible(name));
            UsageError(format!("there is no command `{of} {name}`; `{of} --help` lists those that there are"))
        })
    })
}

fn write_all(manual: &Command, folder: &Path) -> Result<Exit> {
    let shown = visible(&folder.display().to_string());
    fs::create_dir_all(folder)
        .with_context(|| UsageError(format!("cannot make `{shown}`; name a directory with `--dir`")))?;
    let mut pages = 0_usize;
    let mut commands = vec![manual];
    while let Some(command) = commands.pop() {
        let page = rendered(command);
        let name = format!("{}.1", Man::new(command.clone()).get_filename().trim_end_matches(".1"));
        fs::write(folder.join(&name), page).with_context(|| {
            UsageError(format!("cannot write `{shown}/{name}`; make its directory writable"))
        })?;
        pages += 1;
        commands.extend(command.get_subcommands().filter(|command| !command.is_hide_set()));
    }
    outln!("{GOOD}wrote{GOOD:#} {pages} pages into {NAME}{shown}{NAME:#}");
    outln!("\nRead one with `man -l {shown}/haft.1`.");
    Ok(Exit::Done)
}

/// The name by which a command is called, with those above it.
fn shown_name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

#[cfg(test)]
mod tests {
    use super::manual;
    use clap::Command;

    fn every(command: &Command, look: &mut impl FnMut(&Command)) {
        look(command);
        command.get_subcommands().for_each(|below| every(below, look));
    }

    /// The scripts of `haft completions` would offer it.
    #[test]
    fn no_command_is_hidden() {
        every(&manual(), &mut |command| assert!(!command.is_hide_set(), "{}", command.get_name()));
    }

    #[test]
    fn every_option_and_command_says_what_it_does() {
        every(&manual(), &mut |command| {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                let is_said = argument.get_help().is_some_and(|help| !help.to_string().is_empty());
                assert!(is_said, "{} {}", command.get_name(), argument.get_id());
            }
        });
    }
}
