use super::arguments::ConfigOptions;
use super::file::named;
use super::{Configuration, Settings, narrowed};
use crate::exit::{Exit, print_problems, say_note};
use crate::other_root::OtherRoot;
use crate::paint::{ERROR, GOOD, NAME};
use crate::policy_setup::{Files, PolicyOptions, PolicySetup};
use crate::printed::print_json;
use crate::telemetry::Sent;
use crate::timeline::visible;
use crate::{mcp, openapi, opened_workdir, own_tools, shared_store, telemetry};
use anyhow::Result;
use haft::policy::{PolicyFileError, PolicyProblem};
use haft::{ToolRegistry, Workdir};
use schemars::JsonSchema;
use serde::Serialize;

/// Checks all that the files in force say, and prints what is wrong.
pub(super) fn check(options: &ConfigOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let checked = Checked::of(&workdir)?;
    let is_well = checked.is_well();
    if options.json {
        let policy = checked.policy.as_ref().map(ToString::to_string);
        let problems = policy.into_iter().chain(checked.problems).collect();
        print_json(&CheckedConfig { files: checked.files, problems, notes: checked.notes })?;
    } else {
        checked.print();
        if checked.files.is_empty() && is_well {
            outln!("There is no `haft.toml`, neither yours nor one here; `haft init` writes one.");
        }
        for file in checked.files.iter().filter(|_| is_well) {
            outln!("{GOOD}ok{GOOD:#}  {NAME}{}{NAME:#}", visible(file));
        }
    }
    Ok(if is_well { Exit::Done } else { Exit::Failed })
}

/// What was found in the files `haft.toml` that are in force.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckedConfig {
    /// The files, by their short names.
    files: Vec<String>,
    /// What is wrong, each with its place, for people; the files can be used where nothing is.
    problems: Vec<String>,
    /// What does not count, and why.
    notes: Vec<String>,
}

/// Holds what was found in the files in force.
#[derive(Default)]
pub(crate) struct Checked {
    policy: Option<PolicyFileError>,
    pub(crate) problems: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// The files that were read, as people know them.
    pub(crate) files: Vec<String>,
    /// How many tests of the policy passed.
    pub(crate) tests_passed: usize,
}

impl Checked {
    /// Looks at all that the files in force in a directory say.
    pub(crate) fn of(workdir: &Workdir) -> Result<Self> {
        Self::by(Configuration::read(workdir)?, workdir)
    }

    /// Looks at all that was read of the files in force in a directory.
    pub(crate) fn by(configuration: Configuration, workdir: &Workdir) -> Result<Self> {
        let mut found = Self::default();
        let catalog = configuration.catalog()?;
        let tools = own_tools::registry_of_runs(workdir, &catalog)?;
        let setup = PolicySetup::new(&configuration, workdir, Some(named(workdir)));
        match setup.load(&PolicyOptions::default(), Files::InForce, &tools, &catalog) {
            Ok(policy) => {
                found.notes.extend(policy.notes());
                found.tests_passed = policy.loaded.tests_passed;
            }
            Err(error) => found.refuse(error),
        }
        // What is wrong with a file would stop all who trust it.
        let configuration = configuration.if_trusted(workdir);
        if let Err(error) = configuration.catalog() {
            found.refuse(error);
        }
        match Settings::of(&configuration) {
            Ok(settings) => found.look_at(&settings, workdir, tools),
            Err(error) => found.refuse(error),
        }
        found.files = configuration.files().map(|file| file.name.clone()).collect();
        let Configuration { servers, documents, .. } = configuration;
        for others in [mcp::problems(servers), openapi::problems(documents)] {
            match others {
                Ok((problems, notes)) => {
                    found.problems.extend(problems);
                    found.notes.extend(notes);
                }
                Err(error) => found.refuse(error),
            }
        }
        found.tell_once();
        Ok(found)
    }

    pub(crate) fn is_well(&self) -> bool {
        self.problems.is_empty() && self.policy.is_none()
    }

    /// What is wrong with the rules, each with its place.
    pub(crate) fn policy_problems(&self) -> &[PolicyProblem] {
        self.policy.as_ref().map_or(&[], PolicyFileError::problems)
    }

    /// Looks whether what is set can be used: which tools are left, and whether directories are there.
    fn look_at(&mut self, settings: &Settings, workdir: &Workdir, tools: ToolRegistry) {
        if narrowed(tools, &settings.select).is_empty() {
            self.notes.push(
                "`select` of `[tools]` chooses none of haft's own tools; `haft tools` lists what is left"
                    .to_owned(),
            );
        }
        match telemetry::look(settings) {
            Err(error) => self.problems.push(format!("{error:#}")),
            Ok(sent) => self.notes.extend(sent.and_then(|_| Sent::absent())),
        }
        if let Some((store, folder)) = &settings.store {
            self.problems.extend(shared_store::absent().map(str::to_owned));
            if let Err(error) = store.clone().database(folder) {
                self.problems.push(format!("{error:#}"));
            }
        }
        self.notes.extend(settings.other_stores.iter().map(|file| {
            format!("{file}: `[store]` has no effect, because only your own `haft.toml` says where haft remembers things")
        }));
        let model = settings.agent.model().map(|(model, _)| model);
        self.problems.extend(settings.providers.problems(model));
        for root in &settings.roots {
            if let Err(error) = OtherRoot::add(std::slice::from_ref(root), workdir.clone()) {
                self.problems.push(format!("`roots` of `[workdir]`: {error:#}"));
            }
        }
    }

    /// Leaves out what the rules' problems tell already: what is no TOML is found by each who reads it.
    fn tell_once(&mut self) {
        let place = |problem: &PolicyProblem| {
            Some(format!("{}:{}:{}: ", problem.file(), problem.line()?, problem.column()?))
        };
        let places: Vec<String> = self.policy_problems().iter().filter_map(place).collect();
        self.problems.retain(|problem| !places.iter().any(|place| problem.starts_with(place)));
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

    /// Prints on standard error what is wrong, and what does not count.
    pub(crate) fn print(&self) {
        if let Some(policy) = &self.policy {
            print_problems(policy);
        }
        for problem in &self.problems {
            errln!("{ERROR}error{ERROR:#}: {}", visible(problem));
        }
        for note in &self.notes {
            say_note(note);
        }
    }
}
