use super::arguments::ConfigOptions;
use super::{ConfigFiles, Settings};
use crate::exit::{Exit, print_problems};
use crate::paint::{ASKS, ERROR, GOOD, NAME};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::timeline::visible;
use crate::{mcp, openapi, setup};
use anyhow::Result;
use haft::policy::PolicyFileError;
use serde_json::json;

/// Checks all that the files in force say.
pub(super) fn check(options: &ConfigOptions) -> Result<Exit> {
    let workdir = setup::workdir(options.workdir.as_deref())?;
    let mut found = Findings::default();
    let tools = setup::registry_of_runs(&workdir)?;
    match PolicySetup::new(&workdir, None, &tools).load(&PolicyOptions::default(), Files::InForce) {
        Ok(policy) => found.notes.extend(policy.notes()),
        Err(error) => found.refuse(error),
    }
    match Settings::read(&workdir) {
        Ok(settings) if settings.narrow(tools).is_empty() => {
            found
                .problems
                .push("`select` of `[tools]` chooses no tool; `haft tools` lists their names".to_owned());
        }
        Ok(_) => {}
        Err(error) => found.refuse(error),
    }
    for problems in [mcp::problems(&workdir), openapi::problems(&workdir)] {
        match problems {
            Ok(problems) => found.problems.extend(problems),
            Err(error) => found.refuse(error),
        }
    }
    let files: Vec<String> = ConfigFiles::read(&workdir)?.iter().map(|file| file.name.clone()).collect();
    let is_well = found.problems.is_empty() && found.policy.is_none();
    if options.json {
        let policy = found.policy.as_ref().map(ToString::to_string);
        let problems: Vec<&String> = policy.iter().chain(&found.problems).collect();
        anstream::println!("{:#}", json!({ "files": files, "problems": problems, "notes": found.notes }));
    } else {
        found.print();
        if files.is_empty() {
            anstream::println!(
                "There is no `haft.toml`, neither yours nor one here; `haft init` writes one."
            );
        }
        for file in files.iter().filter(|_| is_well) {
            anstream::println!("{GOOD}ok{GOOD:#}  {NAME}{}{NAME:#}", visible(file));
        }
    }
    Ok(if is_well { Exit::Done } else { Exit::Failed })
}

#[derive(Default)]
struct Findings {
    policy: Option<PolicyFileError>,
    problems: Vec<String>,
    notes: Vec<String>,
}

impl Findings {
    fn refuse(&mut self, error: anyhow::Error) {
        match error.downcast::<PolicyFileError>() {
            Ok(problems) => self.policy = Some(problems),
            // What is no TOML is found by each who reads it.
            Err(error) => {
                let text = format!("{error:#}");
                if self.policy.is_none() && !self.problems.contains(&text) {
                    self.problems.push(text);
                }
            }
        }
    }

    fn print(&self) {
        if let Some(policy) = &self.policy {
            print_problems(policy);
        }
        for problem in &self.problems {
            anstream::eprintln!("{ERROR}error{ERROR:#}: {}", visible(problem));
        }
        for note in &self.notes {
            anstream::eprintln!("{ASKS}note{ASKS:#}: {}", visible(note));
        }
    }
}
