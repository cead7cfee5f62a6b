use crate::fixture::{Memory, language, load, notes};
use expect_test::{Expect, expect};
use haft_core::ToolError;
use haft_policy::{LoadedPolicy, PolicyFileError, PolicyLoader};
use haft_tools_core::{Access, Accesses, CallContext, Resource, Scheme, ToolRegistry, tool_fn};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Edit {
    path: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Command {
    command: String,
}

/// Tools that declare what real ones of their names do.
fn tools() -> ToolRegistry {
    let edit = |input: &Edit| match input.path.as_str() {
        "missing" => Err(ToolError::not_found("there is no file `missing`")),
        path => Ok(Accesses::from(Access::write(Resource::exact(Scheme::new("file"), path)))),
    };
    let commands = |input: &Command| {
        let run = |command: &str| Access::execute(Resource::exact(Scheme::new("exec"), command));
        Ok(input.command.split(" && ").map(run).collect::<Accesses>())
    };
    let edit =
        tool_fn("edit_file", "Edits.", edit, |_: Edit, _: CallContext| async { Ok::<_, ToolError>("") })
            .unwrap();
    let bash =
        tool_fn("bash", "Runs.", commands, |_: Command, _: CallContext| async { Ok::<_, ToolError>("") })
            .unwrap();
    ToolRegistry::new().with(edit).unwrap().with(bash).unwrap()
}

fn load_with_tools(text: &str) -> Result<LoadedPolicy, PolicyFileError> {
    let tools = tools();
    PolicyLoader::new(language())
        .source(Memory::of([("policy.toml", text)]))
        .user("policy.toml")
        .tools(&tools)
        .load()
}

/// Loads a file with tools, and shows what became of its tests.
fn check(text: &str, expect: Expect) {
    let said = match load_with_tools(text) {
        Ok(loaded) => {
            format!("{} passed, {} not run\n{}", loaded.tests_passed, loaded.tests_not_run, notes(&loaded))
        }
        Err(error) => format!("{error}\n"),
    };
    expect.assert_eq(&said);
}

#[test]
fn a_file_that_does_what_its_tests_say_is_loaded() {
    check(
        r#"
[permissions]
allow = ["write(src/**)", "exec(git status)"]
deny = ["exec(rm *)"]

[[test]]
access = "write(src/x)"
expect = "allow"

[[test]]
command = "git status && rm x"
expect = "deny"

[[test]]
tool = "edit_file"
input = { path = "docs/x" }
expect = "ask"
"#,
        expect![[r#"
            3 passed, 0 not run
        "#]],
    );
}

#[test]
fn a_test_that_fails_refuses_the_file_and_explains_every_access() {
    check(
        r#"
[permissions]
allow = ["write(src/**)", "exec(git status)"]
deny = ["exec(rm *)"]

[[test]]
name = "nothing is removed unasked"
command = "git status && rm x && make"
expect = "ask"

[[test]]
tool = "edit_file"
input = { path = "docs/x" }
expect = "allow"

[[test]]
access = "write(src/x)"
mode = "plan"
expect = "ask"
"#,
        expect![[r#"
            error: the test `nothing is removed unasked` expects ask and gets deny
             --> policy.toml:8:11
              |
            8 | command = "git status && rm x && make"
              |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = note: exec exec:git status: allow, by the rule exec(git status) (policy.toml:3)
              = note: exec exec:rm x: deny, by the rule exec(rm *) (policy.toml:4); what would change it: change or remove the rule `exec(rm *)` at policy.toml:4
              = note: exec exec:make: ask, no rule speaks of it; what would change it: a rule that allows it, such as `exec(make)`

            error: the test expects allow and gets ask
              --> policy.toml:12:8
               |
            12 | tool = "edit_file"
               |        ^^^^^^^^^^^
               |
               = note: write file:docs/x: ask, no rule speaks of it; what would change it: a rule that allows it, such as `write(docs/x)`

            error: the test expects ask and gets deny
              --> policy.toml:17:10
               |
            17 | access = "write(src/x)"
               |          ^^^^^^^^^^^^^^
               |
               = note: write file:src/x: deny, the mode plan lets nothing write, execute, connect or call; what would change it: a person can change the mode, which is `plan`
        "#]],
    );
}

#[test]
fn a_call_that_cannot_be_made_here_is_not_run() {
    check(
        r#"
[[test]]
tool = "edit_file"
input = { path = "missing" }
expect = "ask"

[[test]]
name = "issues"
tool = "edit_fiel"
expect = "ask"
"#,
        expect![[r#"
            0 passed, 2 not run
            policy.toml:3: the test is not run: `edit_file` cannot prepare the call: there is no file `missing`
            policy.toml:9: the test `issues` is not run: there is no tool `edit_fiel`; did you mean `edit_file`?
        "#]],
    );
}

#[test]
fn arguments_that_do_not_fit_are_a_fault_of_the_test() {
    check(
        "[[test]]\ntool = \"edit_file\"\ninput = { pth = \"x\" }\nexpect = \"ask\"\n",
        expect![[r#"
            error: the test cannot be run: its input does not fit `edit_file`
             --> policy.toml:2:8
              |
            2 | tool = "edit_file"
              |        ^^^^^^^^^^^
              |
              = note: at the top: unknown property `pth`; did you mean `path`?
              = note: at the top: the property `path` is missing
        "#]],
    );
}

#[test]
fn without_tools_calls_are_not_run_and_that_is_told() {
    let loaded = load("[[test]]\ncommand = \"ls\"\nexpect = \"deny\"\n").unwrap();
    expect![[r#"
        policy.toml:2: the test is not run: there are no tools here to make the call with
    "#]]
    .assert_eq(&notes(&loaded));
    assert_eq!((loaded.tests_passed, loaded.tests_not_run), (0, 1));
}

#[test]
fn a_test_may_name_the_agent_and_those_above_it() {
    check(
        r#"
[permissions]
allow = ["write(**)"]

[agents.lead.ceiling]
deny = ["write(Cargo.lock)"]

[agents.explorer.permissions]
deny = ["write(src/**)"]

[[test]]
access = "write(Cargo.lock)"
expect = "allow"

[[test]]
access = "write(Cargo.lock)"
agent = ["lead", "explorer"]
expect = "deny"

[[test]]
access = "write(src/x)"
agent = "explorer"
expect = "deny"

[[test]]
access = "write(src/x)"
agent = "lead"
expect = "allow"
"#,
        expect![[r#"
            4 passed, 0 not run
        "#]],
    );
}

#[test]
fn a_file_is_tested_with_the_mode_and_the_profile_it_names() {
    check(
        r#"
profile = "workspace_write"

[permissions]
mode = "plan"

[[test]]
access = "write(src/x)"
expect = "deny"

[[test]]
access = "write(src/x)"
mode = "default"
expect = "allow"
"#,
        expect![[r#"
            2 passed, 0 not run
        "#]],
    );
}

#[test]
fn other_layers_have_no_part_in_the_tests_of_a_file() {
    let user = "[permissions]\ndeny = [\"write(**)\"]\n";
    let workspace =
        "[permissions]\nallow = [\"write(a)\"]\n[[test]]\naccess = \"write(a)\"\nexpect = \"allow\"\n";
    let loaded = crate::fixture::layered(user, workspace, haft_policy::Trust::Untrusted);
    assert_eq!(loaded.tests_passed, 1);
}
