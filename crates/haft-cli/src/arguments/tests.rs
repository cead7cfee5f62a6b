use super::Arguments;
use clap::{Command, CommandFactory as _};
use expect_test::expect;

/// The commands that have none below them, by their names.
fn leaves() -> Vec<(String, Command)> {
    fn walk(command: &Command, name: &str, leaves: &mut Vec<(String, Command)>) {
        let mut below = command.get_subcommands().filter(|command| command.get_name() != "help").peekable();
        if below.peek().is_none() {
            leaves.push((name.to_owned(), command.clone()));
        }
        below.for_each(|below| walk(below, format!("{name} {}", below.get_name()).trim_start(), leaves));
    }
    let mut leaves = Vec::new();
    walk(&Arguments::command(), "", &mut leaves);
    leaves
}

fn help(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn the_arguments_go_together() {
    Arguments::command().debug_assert();
}

#[test]
fn each_command_has_examples_that_can_be_read() {
    for (name, command) in leaves() {
        let help = help(&command);
        let Some((_, examples)) = help.split_once("Examples:\n") else {
            panic!("`haft {name} --help` has no examples");
        };
        let lines: Vec<&str> = examples.lines().collect();
        assert!(!lines.is_empty(), "{name}");
        for line in lines {
            assert!(
                line.contains(&format!("haft {name}")),
                "an example of `haft {name}` is of another command: {line}"
            );
        }
    }
}

#[test]
fn each_command_says_what_it_does_in_one_line() {
    for (name, command) in leaves() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(
            about.starts_with(char::is_uppercase) && !about.ends_with('.') && about.len() <= 90,
            "{name}: {about}"
        );
    }
}

/// What a program may want to read has `--json`; the rest only does something.
#[test]
fn each_command_whose_output_is_data_has_json() {
    let without: Vec<String> = leaves()
        .into_iter()
        .filter(|(_, command)| !command.get_arguments().any(|argument| argument.get_id() == "json"))
        .map(|(name, _)| name)
        .collect();
    expect![["
        config schema
        policy show
        policy trust
        policy untrust
        mcp add
        mcp remove
        mcp login
        mcp logout
        mcp trust
        mcp untrust
        serve
        completions
        man
        schema"]]
    .assert_eq(&without.join("\n"));
}
