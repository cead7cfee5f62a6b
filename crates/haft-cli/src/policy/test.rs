use super::arguments::TestOptions;
use crate::exit::{Exit, print_problem};
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools;
use crate::paint::{ASKS, BAD, GOOD, NAME};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use haft::policy::{PolicyProblem, TestOutcome, TestReport};
use schemars::JsonSchema;
use serde::Serialize;

/// Runs the tests of policy files and prints each.
pub(super) fn test(options: &TestOptions) -> Result<Exit> {
    let OpenedWorkdir { workdir, configuration, .. } =
        OpenedWorkdir::of(options.workdir.as_deref(), Vec::new())?;
    let catalog = configuration.catalog()?;
    let tools = own_tools::registry_of_runs(&workdir, &catalog)?;
    let setup = PolicySetup::new(&configuration, &workdir, options.workdir.as_deref());
    let mut counts = Counts { json: options.json, ..Counts::default() };
    if options.files.is_empty() {
        let is_named = options.policy.policy.is_some() || options.policy.profile.is_some();
        let files = if is_named { Files::Named } else { Files::InForce };
        for report in setup.test(&options.policy, files, &tools, &catalog)? {
            counts.print(&report);
        }
    }
    for file in &options.files {
        let options = PolicyOptions { policy: Some(file.clone()), ..PolicyOptions::default() };
        for report in setup.test(&options, Files::Named, &tools, &catalog)? {
            counts.print(&report);
        }
    }
    counts.finish()
}

#[derive(Default)]
struct Counts {
    passed: usize,
    not_run: usize,
    failed: Vec<PolicyProblem>,
    json: bool,
    tests: Vec<TestedRule>,
}

/// The tests of policy files.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TestedPolicy {
    /// Each test.
    tests: Vec<TestedRule>,
    /// How many passed.
    passed: usize,
    /// How many failed.
    failed: usize,
    /// How many could not be run.
    not_run: usize,
}

/// A test of a policy file.
#[derive(Serialize, JsonSchema)]
struct TestedRule {
    /// The file.
    file: String,
    /// Its line, from 1.
    line: u32,
    /// What it is about.
    title: String,
    /// The decision that it expects: `allow`, `ask` or `deny`.
    expected: String,
    /// `passed`, `failed` or `not_run`.
    outcome: &'static str,
    /// Why it did not pass, for people.
    why: Option<String>,
}

impl Counts {
    /// Prints each test below the name of its file.
    fn print(&mut self, report: &TestReport) {
        if self.json {
            self.collect(report);
            return;
        }
        let mut file = "";
        for result in report.results() {
            if file != result.place().file() {
                file = result.place().file();
                outln!("{NAME}{}{NAME:#}", visible(file));
            }
            let (line, expected) = (result.place().line(), result.expected().to_string());
            let title = format!("{expected:5}  {}", visible(result.title()));
            match result.outcome() {
                TestOutcome::Passed => {
                    self.passed += 1;
                    outln!("  {GOOD}ok{GOOD:#}    {line:>4}  {title}");
                }
                TestOutcome::Failed(problem) => {
                    self.failed.push(problem.clone());
                    outln!("  {BAD}FAIL{BAD:#}  {line:>4}  {title}");
                }
                TestOutcome::NotRun(why) => {
                    self.not_run += 1;
                    outln!("  {ASKS}skip{ASKS:#}  {line:>4}  {title}: {}", visible(why));
                }
                _ => {}
            }
        }
    }

    fn collect(&mut self, report: &TestReport) {
        for result in report.results() {
            let (outcome, why) = match result.outcome() {
                TestOutcome::Passed => ("passed", None),
                TestOutcome::Failed(problem) => {
                    self.failed.push(problem.clone());
                    ("failed", Some(problem.to_string()))
                }
                TestOutcome::NotRun(why) => ("not_run", Some(why.clone())),
                _ => continue,
            };
            self.passed += usize::from(outcome == "passed");
            self.not_run += usize::from(outcome == "not_run");
            self.tests.push(TestedRule {
                file: result.place().file().to_owned(),
                line: result.place().line(),
                title: result.title().to_owned(),
                expected: result.expected().to_string(),
                outcome,
                why,
            });
        }
    }

    /// Prints what went wrong and how many tests there were.
    fn finish(self) -> Result<Exit> {
        let Self { passed, not_run, failed, json, tests } = self;
        let exit = if failed.is_empty() { Exit::Done } else { Exit::Failed };
        if json {
            print_json(&TestedPolicy { tests, passed, failed: failed.len(), not_run })?;
            return Ok(exit);
        }
        for problem in &failed {
            errln!();
            print_problem(problem);
        }
        if passed + not_run + failed.len() == 0 {
            outln!(
                "There are no tests; write one as a `[[test]]` with an `access` or a `command` and what to `expect`."
            );
            return Ok(Exit::Done);
        }
        let skipped = if not_run == 0 { String::new() } else { format!(", {not_run} not run") };
        outln!("\n{passed} passed, {} failed{skipped}", failed.len());
        Ok(exit)
    }
}
