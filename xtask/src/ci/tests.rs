use super::{Options, Reach, Step, play};
use crate::step::{Failure, Outcome, StepResult};
use crate::tool::missing_tool;

/// How the first and the last step end.
struct Script {
    first: StepResult,
    last: StepResult,
}

const STEPS: [Step<Script>; 3] = [
    Step { name: "fmt", claim: "tidy", reach: Reach::Quick, run: |script| script.first.clone() },
    Step {
        name: "deny",
        claim: "legal",
        reach: Reach::Usual,
        run: |_| Ok(Outcome::Skipped("no tool".to_owned())),
    },
    Step { name: "tests", claim: "right", reach: Reach::Quick, run: |script| script.last.clone() },
];

const PASS: StepResult = Ok(Outcome::Done);

fn fail() -> Failure {
    Failure::new("it is untidy", "Tidy it up.")
}

fn check(first: StepResult, last: StepResult, options: Options, expected: &str) {
    let script = Script { first, last };
    let mut out = Vec::new();
    let passed = play(&STEPS, options, &script, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert_eq!(passed, script.first.is_ok() && script.last.is_ok());
}

const ALL: Options = Options { reach: Reach::Usual, keep_going: false };

#[test]
fn prints_nothing_after_the_last_step_of_a_good_run() {
    check(
        PASS,
        PASS,
        ALL,
        "\n=== fmt: tidy\n\
         \n=== deny: legal\nskipped: no tool\n\
         \nstep      result      seconds\n\
         fmt       ok              0.0\n\
         deny      skipped         0.0  no tool\n\
         tests     now, and last\n\
         \n=== tests: right\n",
    );
}

#[test]
fn a_quick_run_leaves_steps_out() {
    check(
        PASS,
        PASS,
        Options { reach: Reach::Quick, ..ALL },
        "\n=== fmt: tidy\n\
         \nstep      result      seconds\n\
         fmt       ok              0.0\n\
         tests     now, and last\n\
         \n=== tests: right\n",
    );
}

#[test]
fn stops_at_the_first_failure_and_ends_with_its_repair() {
    check(
        Err(fail()),
        PASS,
        ALL,
        "\n=== fmt: tidy\nit is untidy\nTidy it up.\n\
         \nstep      result      seconds\n\
         fmt       failed          0.0\n\
         deny      not run         0.0\n\
         tests     not run         0.0\n\
         \nfmt failed. Tidy it up.\n",
    );
}

#[test]
fn keeps_going_and_names_every_failure_at_the_end() {
    check(
        Err(fail()),
        Err(fail()),
        Options { keep_going: true, ..ALL },
        "\n=== fmt: tidy\nit is untidy\nTidy it up.\n\
         \n=== deny: legal\nskipped: no tool\n\
         \nstep      result      seconds\n\
         fmt       failed          0.0\n\
         deny      skipped         0.0  no tool\n\
         tests     now, and last\n\
         \n=== tests: right\nit is untidy\nTidy it up.\n\
         \nstep      result      seconds\n\
         fmt       failed          0.0\n\
         deny      skipped         0.0  no tool\n\
         tests     failed          0.0\n\
         \nfmt failed. Tidy it up.\ntests failed. Tidy it up.\n",
    );
}

#[test]
fn a_missing_tool_fails_on_the_build_host_only() {
    assert_eq!(
        missing_tool(false, "cargo-deny"),
        Ok(Outcome::Skipped("cargo-deny is not installed; `cargo install --locked cargo-deny`".to_owned()))
    );
    assert_eq!(
        missing_tool(true, "cargo-deny"),
        Err(Failure::new(
            "cargo-deny is not installed",
            "Install it with `cargo install --locked cargo-deny`."
        ))
    );
}
