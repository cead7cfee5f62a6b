use super::OUTPUTS;
use super::page::page;
use crate::arguments::Arguments;
use clap::{Command, CommandFactory as _};
use expect_test::expect_file;

#[test]
fn the_page_says_what_the_types_do() {
    expect_file!["../../../../docs/reference/json.md"].assert_eq(&page());
}

#[test]
fn each_command_that_prints_json_has_a_schema_and_no_other_has() {
    let mut prints = Vec::new();
    printing(&Arguments::command(), "", &mut prints);
    assert!(prints.len() > 25, "{prints:?}");
    // What tells the outputs of a command apart is an option or the name of an argument.
    let is_word = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
    let mut has: Vec<String> = OUTPUTS
        .iter()
        .map(|output| output.command.split(' ').take_while(is_word).collect::<Vec<_>>().join(" "))
        .collect();
    has.dedup();
    prints.sort();
    assert_eq!(prints, has);
}

#[test]
fn outputs_stand_in_the_order_of_their_names_and_none_twice() {
    let commands: Vec<&str> = OUTPUTS.iter().map(|output| output.command).collect();
    assert!(commands.is_sorted_by(|one, next| one < next), "{commands:?}");
}

/// Gathers the commands that take `--json`.
fn printing(command: &Command, path: &str, found: &mut Vec<String>) {
    if command.get_arguments().any(|argument| argument.get_long() == Some("json")) {
        found.push(path.to_owned());
    }
    for below in command.get_subcommands() {
        let path = if path.is_empty() {
            below.get_name().to_owned()
        } else {
            format!("{path} {}", below.get_name())
        };
        printing(below, &path, found);
    }
}
