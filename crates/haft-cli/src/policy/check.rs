use super::arguments::CheckOptions;
use crate::exit::{Exit, print_problems};
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools;
use crate::paint::{GOOD, NAME, QUIET};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use haft::policy::{LoadedPolicy, PolicyFileError};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Checks policy files one by one, and says what they come to.
pub(super) fn check(options: &CheckOptions) -> Result<Exit> {
    let OpenedWorkdir { workdir, configuration, .. } =
        OpenedWorkdir::of(options.workdir.as_deref(), Vec::new())?;
    let catalog = configuration.catalog()?;
    let tools = own_tools::registry_of_runs(&workdir, &catalog)?;
    let setup = PolicySetup::new(&configuration, &workdir, options.workdir.as_deref());
    let mut exit = Exit::Done;
    let mut checked = Vec::new();
    let json = options.json;
    for file in &options.files {
        let options = PolicyOptions { policy: Some(file.clone()), ..PolicyOptions::default() };
        match setup.load(&options, Files::Named, &tools, &catalog) {
            Ok(policy) if json => checked.push(CheckedFile::good(file, &policy.loaded)),
            Ok(policy) => print(file, &policy.loaded),
            Err(error) => match error.downcast::<PolicyFileError>() {
                Ok(problems) if json => {
                    checked.push(CheckedFile::bad(file, &problems));
                    exit = Exit::Failed;
                }
                Ok(problems) => {
                    print_problems(&problems);
                    let count = problems.problems().len() + problems.more();
                    let what = if count == 1 { "problem" } else { "problems" };
                    errln!("\n{}: {count} {what}", visible(&file.display().to_string()));
                    exit = Exit::Failed;
                }
                Err(error) => return Err(error),
            },
        }
    }
    if json {
        print_json(&checked)?;
    }
    Ok(exit)
}

/// What was found of a policy file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckedFile {
    /// The file, as it was named.
    file: String,
    /// Whether nothing is wrong with it.
    ok: bool,
    /// What is wrong, each with its place, for people.
    problems: Vec<String>,
    /// What does not count, and why.
    notes: Vec<String>,
    /// How many of its tests passed; `null` where it cannot be read.
    tests_passed: Option<usize>,
    /// The files that it includes.
    includes: Vec<String>,
    /// The profile that it builds on, if it names one.
    profile: Option<String>,
    /// The mode that it sets.
    mode: Option<String>,
    /// How far commands are confined.
    sandbox: Option<String>,
}

impl CheckedFile {
    fn good(file: &Path, loaded: &LoadedPolicy) -> Self {
        let file = file.display().to_string();
        Self {
            ok: true,
            problems: Vec::new(),
            notes: loaded.notes.iter().map(ToString::to_string).collect(),
            tests_passed: Some(loaded.tests_passed),
            includes: loaded.files.iter().filter(|included| **included != file).cloned().collect(),
            profile: loaded.profile.map(|profile| profile.to_string()),
            mode: Some(loaded.mode.to_string()),
            sandbox: Some(loaded.sandbox.to_string()),
            file,
        }
    }

    fn bad(file: &Path, problems: &PolicyFileError) -> Self {
        Self {
            file: file.display().to_string(),
            ok: false,
            problems: problems.problems().iter().map(ToString::to_string).collect(),
            notes: Vec::new(),
            tests_passed: None,
            includes: Vec::new(),
            profile: None,
            mode: None,
            sandbox: None,
        }
    }
}

fn print(file: &Path, loaded: &LoadedPolicy) {
    let name = visible(&file.display().to_string());
    let tests = match loaded.tests_passed {
        0 => "no tests".to_owned(),
        1 => "1 test passed".to_owned(),
        passed => format!("{passed} tests passed"),
    };
    outln!("{GOOD}ok{GOOD:#}  {NAME}{name}{NAME:#}: {tests}");
    let shown = file.display().to_string();
    for included in loaded.files.iter().filter(|included| **included != shown) {
        outln!("    includes {}", visible(included));
    }
    match loaded.profile {
        Some(profile) => outln!("    builds on the profile {profile}"),
        None => outln!("    builds on no profile of its own; `read_only` holds unless another is named"),
    }
    outln!("    mode {}, sandbox {}", loaded.mode, loaded.sandbox);
    for note in &loaded.notes {
        outln!("    {QUIET}note:{QUIET:#} {}", visible(&note.to_string()));
    }
}
