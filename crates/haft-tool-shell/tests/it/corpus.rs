#![expect(
    clippy::print_stdout,
    reason = "a reader of the log must see what was measured, and that nothing was checked"
)]

use haft_testkit::Tree;
use haft_tool_shell::Environment;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use crate::deciding::{Decision, Rules};

/// A command and what may be done with it.
#[derive(Deserialize)]
struct Case {
    command: String,
    #[serde(default)]
    safe: bool,
    #[serde(default)]
    group: String,
    /// What a guard against destruction is expected to say: `allow` or `deny`.
    #[serde(default)]
    expected: String,
}

/// Reads the cases of a file, where it is there: they are no part of the repository. `HAFT_DATA` says where data are.
fn cases(name: &str) -> Option<Vec<Case>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = env::var_os("HAFT_DATA").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(directory.join("shell").join(name)) else {
        println!("skipped: there are no commands beside the workspace, nor where HAFT_DATA says");
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect())
}

#[test]
fn allows_no_command_that_is_not_safe_under_read_only_rules() {
    let Some(cases) = cases("dippy-dev.jsonl") else { return };
    let tree = Tree::new().file("src/lib.rs", "").file("README.md", "").directory("d");
    let environment = Environment::minimal().with("HOME", "/home/ann").expect("a variable");
    let rules = Rules::new(&tree, environment, &["@reads"], &[]);
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut unsafe_allowed, mut missed) = (Vec::new(), Vec::new());
    for case in &cases {
        let is_allowed = rules.decide(&case.command) == Decision::Allow;
        if case.safe {
            let (all, allowed) = groups.entry(&case.group).or_default();
            *all += 1;
            *allowed += usize::from(is_allowed);
            if !is_allowed {
                missed.push(case);
            }
        } else if is_allowed {
            unsafe_allowed.push(&case.command);
        }
    }
    if env::var_os("HAFT_SHOW_MISSED").is_some() {
        for case in &missed {
            let accesses = rules.accesses(&case.command);
            let asked = accesses.iter().filter(|access| rules.decide_access(access) != Decision::Allow);
            let asked: Vec<String> = asked.map(ToString::to_string).collect();
            println!("missed [{}] {:?}: {asked:?}", case.group, case.command);
        }
        for (group, (all, allowed)) in &groups {
            println!("{group}: {allowed} of {all}");
        }
    }
    let (all, allowed) = groups.values().fold((0, 0), |sum, group| (sum.0 + group.0, sum.1 + group.1));
    println!("allowed {allowed} of {all} safe commands; {} of the others", unsafe_allowed.len());
    assert_eq!(unsafe_allowed, Vec::<&String>::new());
    assert!(4 * allowed >= 3 * all, "so few that they would be allowed by hand instead");
}

/// What must not be done, as a person would write it down who has lost work to it.
const DESTRUCTIVE: &[&str] = &[
    "git reset --hard *",
    "git clean -f *",
    "git stash drop *",
    "git stash clear *",
    "git branch -D *",
    "git push --force *",
    "rm -rf / *",
    "rm -rf /home* *",
    "rm -rf '~' *",
    "rm -rf '$HOME' *",
    "rm -rf './'* *",
    "rm -rf '.*' *",
    "python* -c *shutil.rmtree*",
    "python* -c *os.remove*",
    "node -e *rm*-rf*",
];

#[test]
fn denies_every_command_that_destroys_and_no_other() {
    let Some(cases) = cases("destructive-dev.jsonl") else { return };
    let tree = Tree::new();
    let environment = Environment::minimal().with("HOME", "/home/ann").expect("a variable");
    let rules = Rules::new(&tree, environment, &[], DESTRUCTIVE);
    let is_denied = |case: &&Case| rules.decide(&case.command) == Decision::Deny;
    let (deny, others): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.expected == "deny");
    let missed: Vec<_> = deny.iter().filter(|case| !is_denied(case)).map(|case| &case.command).collect();
    let wrong: Vec<_> = others.iter().filter(|case| is_denied(case)).map(|case| &case.command).collect();
    println!(
        "denied {} of {} commands that destroy, and {} of {} others",
        deny.len() - missed.len(),
        deny.len(),
        wrong.len(),
        others.len()
    );
    assert_eq!((missed, wrong), (Vec::new(), Vec::new()));
}
