use super::arguments::TestOptions;
use crate::exit::{Exit, print_problem};
use crate::paint::{ASKS, BAD, GOOD, NAME};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::setup::{self, OpenedWorkdir};
use crate::timeline::visible;
use anyhow::Result;
use haft::policy::{Problem, TestOutcome, TestReport};

/// Runs the tests of policy files and prints each.
pub(super) fn test(options: &TestOptions) -> Result<Exit> {
    let workdir = OpenedWorkdir::of(options.workdir.as_deref(), Vec::new())?.workdir;
    let tools = setup::registry_of_runs(&workdir)?;
    let setup = PolicySetup::new(&workdir, options.workdir.as_deref(), &tools);
    let mut counts = Counts::default();
    if options.files.is_empty() {
        let is_named = options.policy.policy.is_some() || options.policy.profile.is_some();
        let files = if is_named { Files::Named } else { Files::InForce };
        for report in setup.test(&options.policy, files)? {
            counts.print(&report);
        }
    }
    for file in &options.files {
        let options = PolicyOptions { policy: Some(file.clone()), ..PolicyOptions::default() };
        for report in setup.test(&options, Files::Named)? {
            counts.print(&report);
        }
    }
    Ok(counts.finish())
}

#[derive(Default)]
struct Counts {
    passed: usize,
    not_run: usize,
    failed: Vec<Problem>,
}

impl Counts {
    /// Prints each test below the name of its file.
    fn print(&mut self, report: &TestReport) {
        let mut file = "";
        for result in report.results() {
            if file != result.place().file() {
                file = result.place().file();
                anstream::println!("{NAME}{}{NAME:#}", visible(file));
            }
            let (line, expected) = (result.place().line(), result.expected().to_string());
            let title = format!("{expected:5}  {}", visible(result.title()));
            match result.outcome() {
                TestOutcome::Passed => {
                    self.passed += 1;
                    anstream::println!("  {GOOD}ok{GOOD:#}    {line:>4}  {title}");
                }
                TestOutcome::Failed(problem) => {
                    self.failed.push(problem.clone());
                    anstream::println!("  {BAD}FAIL{BAD:#}  {line:>4}  {title}");
                }
                TestOutcome::NotRun(why) => {
                    self.not_run += 1;
                    anstream::println!("  {ASKS}skip{ASKS:#}  {line:>4}  {title}: {}", visible(why));
                }
                _ => {}
            }
        }
    }

    /// Prints what went wrong and how many tests there were.
    fn finish(self) -> Exit {
        let Self { passed, not_run, failed } = self;
        for problem in &failed {
            anstream::eprintln!();
            print_problem(problem);
        }
        if passed + not_run + failed.len() == 0 {
            anstream::println!(
                "There are no tests; write one as a `[[test]]` with an `access` or a `command` and what to `expect`."
            );
            return Exit::Done;
        }
        let skipped = if not_run == 0 { String::new() } else { format!(", {not_run} not run") };
        anstream::println!("\n{passed} passed, {} failed{skipped}", failed.len());
        if failed.is_empty() { Exit::Done } else { Exit::Failed }
    }
}
