//! What haft remembers in a database: what is configured, and what is said where it cannot be used.

#[cfg(feature = "postgres")]
mod postgres;

use crate::{haft, shown};
use haft_testkit::Tree;
use std::process::Command;

/// Is a machine whose user's `haft.toml` has this text, with nothing else on it.
fn machine(text: &str) -> Tree {
    Tree::new().file("config/haft/haft.toml", text).file("work/notes.md", "harvest\n")
}

fn command(machine: &Tree, arguments: &[&str]) -> Command {
    let mut command = haft(&machine.path().join("work"), arguments);
    command.env("XDG_CONFIG_HOME", machine.path().join("config"));
    command.env("XDG_STATE_HOME", machine.path().join("state"));
    command.env("HAFT_STATE", machine.path().join("state/haft.db")).env_remove("HAFT_NOT_SET");
    command
}

fn say(machine: &Tree, code: i32, arguments: &[&str]) -> String {
    let output = command(machine, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", shown(&output));
    shown(&output)
}

const READ: [&str; 3] = ["call", "read_file", r#"{"path":"notes.md"}"#];

/// Checks that nothing runs, and what is said; `haft doctor` says it, too.
fn check_refused(table: &str, because: &[&str]) {
    let machine = machine(&format!("[store]\n{table}"));
    for arguments in
        [&READ[..], &["approvals", "list"], &["grants", "list"], &["journal"], &["resume"], &["report"]]
    {
        let said = say(&machine, 2, arguments);
        assert!(because.iter().all(|because| said.contains(because)), "{arguments:?}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("harvest"), "{said}");
    }
    let said = say(&machine, 1, &["doctor", "--connect"]);
    assert!(because.iter().all(|because| said.contains(because)), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    assert!(!machine.path().join("state/haft.db").exists());
}

#[test]
fn a_password_within_an_address_is_refused_and_not_shown() {
    for place in ["haft:hunter2@127.0.0.1:1/haft", "haft@127.0.0.1:1/haft?password=hunter2"] {
        check_refused(
            &format!("postgres = \"postgres://{place}\"\n"),
            &["haft.toml:2:12: a password has no place in it", "as `password`", "as `password_file`"],
        );
    }
}

#[test]
fn a_table_that_does_not_say_enough_is_refused() {
    check_refused(
        "schema = \"haft\"\n",
        &["`[store]` of `haft.toml` names no database; write it as `postgres`"],
    );
    let place = "postgres = \"postgres://haft@127.0.0.1:1/haft\"\n";
    check_refused(
        &format!("{place}password = \"HAFT_NOT_SET\"\n"),
        &["names `HAFT_NOT_SET` for the password, which is not set; set it where haft is started"],
    );
    check_refused(&format!("{place}password = \"hunter2\"\n"), &["this is the name of a variable"]);
    check_refused(
        &format!("{place}password_file = \"gone\"\n"),
        &["config/haft/gone` as `password_file`, which cannot be read"],
    );
    check_refused(
        &format!("{place}passwort = \"X\"\n"),
        &["`passwort` is not known; did you mean", "password"],
    );
    let both = format!("{place}password = \"X\"\npassword_file = \"gone\"\n");
    check_refused(&both, &["has `password` and `password_file`; write one of them"]);
}

#[test]
#[cfg(not(feature = "postgres"))]
fn a_build_without_databases_says_how_to_get_one_that_has_them() {
    let place = "postgres = \"postgres://haft@127.0.0.1:1/haft\"\n";
    check_refused(
        place,
        &["built without the feature `postgres`", "cargo install --path crates/haft-cli --features postgres"],
    );
    let said = say(&machine(&format!("[store]\n{place}")), 1, &["config", "check"]);
    assert!(said.contains("built without the feature `postgres`"), "{said}");
}

#[test]
#[cfg(feature = "postgres")]
fn a_database_that_cannot_be_reached_is_named_with_the_next_step() {
    let place = "postgres = \"postgres://haft@127.0.0.1:1/haft\"\n";
    check_refused(
        place,
        &[
            "cannot remember anything in `postgres://haft@127.0.0.1:1/haft`; correct what is said here, or take `[store]` out",
            "because: cannot use the database at 127.0.0.1:1/haft",
            "see that its server runs, and try again",
        ],
    );
    let schema = format!("{place}schema = \"Haft\"\n");
    check_refused(&schema, &["`Haft` cannot be the schema of the tables"]);
    let authorities = format!("{place}authorities = \"haft.toml\"\n");
    check_refused(&authorities, &["authorities that certificates of the database are checked with"]);
}

/// Without `--connect` nobody in the network is asked.
#[test]
#[cfg(feature = "postgres")]
fn what_is_configured_is_shown_without_asking_the_database() {
    let text = "[store]\npostgres = \"postgres://haft@127.0.0.1:1/haft?sslmode=disable\"\npassword_file = \"secret\"\n";
    let machine = machine(text).file("config/haft/secret", "hunter2\n");
    let checked = say(&machine, 0, &["config", "check"]);
    let listed = say(&machine, 0, &["config", "show"]);
    assert!(
        listed.contains("store.postgres") && listed.contains("postgres://haft@127.0.0.1:1/haft  "),
        "{listed}"
    );
    let looked = say(&machine, 0, &["doctor"]);
    assert!(looked.contains("what is remembered is in `postgres://haft@127.0.0.1:1/haft`"), "{looked}");
    assert!(looked.contains("`haft doctor --connect` asks"), "{looked}");
    assert!([checked, listed, looked].iter().all(|said| !said.contains("hunter2")));
}

#[test]
fn a_workspace_does_not_say_where_its_user_remembers_things() {
    let table = "[store]\npostgres = \"postgres://haft@127.0.0.1:1/haft\"\n";
    let machine = machine("").file("work/haft.toml", table);
    for _ in ["not trusted", "trusted"] {
        say(&machine, 0, &["grants", "list"]);
        let checked = say(&machine, 0, &["config", "check"]);
        assert!(checked.contains("haft.toml: `[store]` has no effect, because only your own"), "{checked}");
        let shown = say(&machine, 0, &["config", "show"]);
        assert!(shown.contains("ignored: only your own `haft.toml` says it"), "{shown}");
        say(&machine, 0, &["policy", "trust"]);
    }
}
