//! All commands as one page of Markdown.

use super::shown_name;
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use std::fmt::Write as _;

const HEAD: &str = "\
# Commands

<!-- Written by `cargo xtask docs` from `haft man --markdown`: change what the command itself says. -->

Every command with what it takes. `haft COMMAND --help` shows the same in a terminal, `haft man COMMAND | man -l -` as a page of the \
manual, and `haft completions SHELL` writes what a shell completes it by.

";

/// Writes the page.
pub(super) fn page(manual: &Command) -> String {
    let mut page = HEAD.to_owned();
    list(&mut page, manual, 0);
    section(&mut page, manual);
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// The commands with what each is for, as they stand below each other.
fn list(page: &mut String, command: &Command, depth: usize) {
    for below in shown(command) {
        let name = shown_name(below);
        let about = below.get_about().map(one_line).unwrap_or_default();
        let anchor = name.replace(' ', "-");
        let _ = writeln!(page, "{:indent$}- [`{name}`](#{anchor}): {about}", "", indent = depth * 2);
        list(page, below, depth + 1);
    }
}

fn section(page: &mut String, command: &Command) {
    let name = shown_name(command);
    let about = command.get_long_about().or(command.get_about()).map(text).unwrap_or_default();
    let _ = writeln!(page, "\n## `{name}`\n\n{}\n", sentence(&about));
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(page, "```text\n{}\n```", usage.trim_start_matches("Usage: ").trim());
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| is_told(argument)).collect();
    if !arguments.is_empty() {
        let _ = writeln!(page, "\n| argument | what it does | by default |\n| --- | --- | --- |");
        for argument in arguments {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                cell(&spelled(argument)),
                help(argument),
                default(argument)
            );
        }
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        let _ = write!(page, "\n{}", after_help(&text(after)));
    }
    for below in shown(command) {
        section(page, below);
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set())
}

/// All commands take these.
fn is_told(argument: &Arg) -> bool {
    let shows = matches!(
        argument.get_action(),
        ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort | ArgAction::Version
    );
    !shows && !argument.is_hide_set()
}

/// Writes an argument as it is given.
fn spelled(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let takes = argument.get_action().takes_values();
    let Some(long) = argument.get_long() else {
        let name = values.join(" ");
        let more =
            if argument.get_num_args().is_some_and(|range| range.max_values() > 1) { "..." } else { "" };
        return if argument.is_required_set() { format!("{name}{more}") } else { format!("[{name}]{more}") };
    };
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let is_optional = argument.get_num_args().is_some_and(|range| range.min_values() == 0);
    let value = match (takes, is_optional) {
        (false, _) => String::new(),
        (true, false) => format!(" {}", values.join(" ")),
        (true, true) => format!(" [{}]", values.join(" ")),
    };
    format!("{short}--{long}{value}")
}

fn help(argument: &Arg) -> String {
    let mut told = argument.get_long_help().or(argument.get_help()).map(one_line).unwrap_or_default();
    let values = argument.get_possible_values();
    if argument.get_action().takes_values() && !argument.is_hide_possible_values_set() && !values.is_empty() {
        let names = values.iter().filter(|value| !value.is_hide_set()).map(|value| match value.get_help() {
            Some(meaning) => format!("`{}` ({})", value.get_name(), lowercase(&one_line(meaning))),
            None => format!("`{}`", value.get_name()),
        });
        let _ = write!(told, ": {}", names.collect::<Vec<_>>().join(", "));
    }
    if matches!(argument.get_action(), ArgAction::Append) && argument.get_long().is_some() {
        told.push_str(" (can be given several times)");
    }
    cell(&told)
}

fn default(argument: &Arg) -> String {
    let values = argument.get_default_values();
    if !argument.get_action().takes_values() || values.is_empty() {
        return String::new();
    }
    let values: Vec<_> = values.iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    cell(&values.join(", "))
}

/// Puts examples and tables, which are set in columns, into blocks, and leaves paragraphs as they are.
fn after_help(text: &str) -> String {
    let mut page = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with("  ") {
            let _ = writeln!(page, "{line}");
            continue;
        }
        let is_console = line.starts_with("  haft ") || line.contains("| haft ");
        let mark = if is_console { "console" } else { "text" };
        let before = if is_console { "$ " } else { "" };
        let _ = writeln!(page, "\n```{mark}\n{before}{}", line.trim_start());
        while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
            let _ = writeln!(page, "{before}{}", line.trim_start());
        }
        let _ = writeln!(page, "```");
    }
    page
}

fn text(styled: &StyledStr) -> String {
    styled.to_string()
}

fn one_line(styled: &StyledStr) -> String {
    styled.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Ends what stands alone with a full stop.
fn sentence(about: &str) -> String {
    let about = about.trim();
    if about.ends_with('.') { about.to_owned() } else { format!("{about}.") }
}

fn lowercase(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}

/// Makes a text fit into one cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
