use super::arguments::CheckOptions;
use crate::exit::{Exit, print_problems};
use crate::paint::{GOOD, NAME, QUIET};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::setup::{self, OpenedWorkdir};
use crate::timeline::visible;
use anyhow::Result;
use haft::policy::{LoadedPolicy, PolicyFileError};
use std::path::Path;

/// Checks policy files one by one, and says what they come to.
pub(super) fn check(options: &CheckOptions) -> Result<Exit> {
    let workdir = OpenedWorkdir::of(options.workdir.as_deref(), Vec::new())?.workdir;
    let tools = setup::registry_of_runs(&workdir)?;
    let setup = PolicySetup::new(&workdir, options.workdir.as_deref(), &tools);
    let mut exit = Exit::Done;
    for file in &options.files {
        let options = PolicyOptions { policy: Some(file.clone()), ..PolicyOptions::default() };
        match setup.load(&options, Files::Named) {
            Ok(policy) => print(file, &policy.loaded),
            Err(error) => match error.downcast::<PolicyFileError>() {
                Ok(problems) => {
                    print_problems(&problems);
                    let count = problems.problems().len() + problems.more();
                    let what = if count == 1 { "problem" } else { "problems" };
                    anstream::eprintln!("\n{}: {count} {what}", visible(&file.display().to_string()));
                    exit = Exit::Failed;
                }
                Err(error) => return Err(error),
            },
        }
    }
    Ok(exit)
}

fn print(file: &Path, loaded: &LoadedPolicy) {
    let name = visible(&file.display().to_string());
    let tests = match loaded.tests_passed {
        0 => "no tests".to_owned(),
        1 => "1 test passed".to_owned(),
        passed => format!("{passed} tests passed"),
    };
    anstream::println!("{GOOD}ok{GOOD:#}  {NAME}{name}{NAME:#}: {tests}");
    let shown = file.display().to_string();
    for included in loaded.files.iter().filter(|included| **included != shown) {
        anstream::println!("    includes {}", visible(included));
    }
    match loaded.profile {
        Some(profile) => anstream::println!("    builds on the profile {profile}"),
        None => anstream::println!(
            "    builds on no profile of its own; `read_only` holds unless another is named"
        ),
    }
    anstream::println!("    mode {}, sandbox {}", loaded.mode, loaded.sandbox);
    for note in &loaded.notes {
        anstream::println!("    {QUIET}note:{QUIET:#} {}", visible(&note.to_string()));
    }
}
