use super::arguments::ConfigOptions;
use super::files::named;
use super::{ConfigFiles, Settings, narrowed};
use crate::exit::{Exit, print_problems};
use crate::other_root::OtherRoot;
use crate::paint::{ASKS, ERROR, GOOD, NAME};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::timeline::visible;
use crate::{mcp, openapi, setup};
use anyhow::Result;
use haft::policy::PolicyFileError;
use haft::{ToolRegistry, Workdir};
use serde_json::json;

/// Checks all that the files in force say.
pub(super) fn check(options: &ConfigOptions) -> Result<Exit> {
    let workdir = setup::workdir(options.workdir.as_deref())?;
    let mut found = Findings::default();
    let tools = setup::registry_of_runs(&workdir)?;
    match PolicySetup::new(&workdir, Some(named(&workdir)), &tools)
        .load(&PolicyOptions::default(), Files::InForce)
    {
        Ok(policy) => found.notes.extend(policy.notes()),
        Err(error) => found.refuse(error),
    }
    match Settings::read(&workdir) {
        Ok(settings) => found.look_at(&settings, &workdir, tools),
        Err(error) => found.refuse(error),
    }
    for others in [mcp::problems(&workdir), openapi::problems(&workdir)] {
        match others {
            Ok((problems, notes)) => {
                found.problems.extend(problems);
                found.notes.extend(notes);
            }
            Err(error) => found.refuse(error),
        }
    }
    let files: Vec<String> = match ConfigFiles::read(&workdir) {
        Ok(files) => files.iter().map(|file| file.name.clone()).collect(),
        Err(error) => {
            found.refuse(error);
            Vec::new()
        }
    };
    let is_well = found.problems.is_empty() && found.policy.is_none();
    if options.json {
        let policy = found.policy.as_ref().map(ToString::to_string);
        let problems: Vec<&String> = policy.iter().chain(&found.problems).collect();
        anstream::println!("{:#}", json!({ "files": files, "problems": problems, "notes": found.notes }));
    } else {
        found.print();
        if files.is_empty() && is_well {
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
    /// Looks whether what is set can be used: which tools are left, and whether directories are there.
    fn look_at(&mut self, settings: &Settings, workdir: &Workdir, tools: ToolRegistry) {
        if narrowed(tools, &settings.select).is_empty() {
            self.notes.push(
                "`select` of `[tools]` chooses none of haft's own tools; `haft tools` lists what is left"
                    .to_owned(),
            );
        }
        for root in &settings.roots {
            if let Err(error) = OtherRoot::add(std::slice::from_ref(root), workdir.clone()) {
                self.problems.push(format!("`roots` of `[workdir]`: {error:#}"));
            }
        }
    }

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
