//! Which policy files hold, and what they come to.

#[cfg(test)]
mod tests;

mod ahead;
mod files_read;
mod naming;
mod snapshot;
mod texts;
mod trust;

pub(crate) use ahead::PolicyAhead;
pub(crate) use snapshot::hex;
pub(crate) use texts::Texts;
pub(crate) use trust::{TrustStore, WorkspaceFile, workspace_path};

use crate::config::{Configuration, TABLES};
use crate::exit::{UsageError, say_note};
use crate::offered::named_tool;
use crate::paint::QUIET;
use crate::telemetry;
use crate::timeline::visible;
use ahead::least_in;
use anyhow::{Context as _, Result};
use clap::Args;
use files_read::FilesRead;
use haft::policy::{
    LoadedPolicy, PolicyLoader, Profile, SandboxMode, TestOutcome, TestReport, TestResult, Trust,
};
use haft::shell::{CommandCatalog, CommandPatterns};
use haft::tools_core::{LocalExecutorBuilder, Mode, ModeSwitch, RuleLanguage};
use haft::{DefaultRules, ToolRegistry, Workdir};
use naming::NamesFor;
use snapshot::Snapshot;
use std::io::{
    self,
    ErrorKind::{NotADirectory, NotFound},
};
use std::path::{Path, PathBuf};

/// Says what the command line has to say of the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyOptions {
    /// Build on this profile: `read_only`, `workspace_write` or `full_access`
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<Profile>,
    /// Decide by the rules of this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Start in this mode: `plan`, `deny_unknown`, `default`, `accept_edits` or `auto`
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// Confine the commands of `bash` by the kernel: `require`, `prefer` where it can, or `off`
    #[arg(long, value_name = "MODE")]
    pub(crate) sandbox: Option<SandboxMode>,
}

impl PolicyOptions {
    /// Tells whether the command line says anything of what may be done.
    pub(crate) fn are_given(&self) -> bool {
        self.profile.is_some() || self.policy.is_some() || self.mode.is_some()
    }
}

/// Says which files decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// The user's, the workspace's and the one that the command line names.
    InForce,
    /// The one that the command line names, with the profile that it or the command line names.
    Named,
}

/// Knows where policy files are, and how people know them.
#[derive(Clone, Copy)]
pub(crate) struct PolicySetup<'a> {
    configuration: &'a Configuration,
    workdir: &'a Workdir,
    /// The directory as it was given, for names that people know.
    given: &'a Path,
}

/// Holds the policy that calls are decided by.
pub(crate) struct PolicyInForce {
    pub(crate) loaded: LoadedPolicy,
    /// The mode that runs are in now: that of the policy, until a person says otherwise.
    pub(crate) mode: ModeSwitch,
    /// The name of the workspace's own file, where it is not trusted.
    untrusted: Option<PathBuf>,
}

impl<'a> PolicySetup<'a> {
    /// Knows the files of what is configured in the working directory.
    pub(crate) fn new(
        configuration: &'a Configuration,
        workdir: &'a Workdir,
        given: Option<&'a Path>,
    ) -> Self {
        Self { configuration, workdir, given: given.unwrap_or(Path::new("")) }
    }

    /// Reads the files in force, each weighing more than the next: the profile, the user's, the workspace's and the one of
    /// the command line; models may read of their rules.
    ///
    /// Where no file and no option names a profile, the rules build on `read_only`.
    pub(crate) fn in_force(
        self,
        options: &'a PolicyOptions,
        tools: &ToolRegistry,
        catalog: &CommandCatalog,
    ) -> Result<PolicyInForce> {
        PolicyAhead::of(self, options).in_force(tools, catalog)
    }

    /// Reads the files that decide, and runs their tests, for people.
    pub(crate) fn load(
        self,
        options: &'a PolicyOptions,
        files: Files,
        tools: &ToolRegistry,
        catalog: &CommandCatalog,
    ) -> Result<PolicyInForce> {
        FilesRead::of(self, options, files, NamesFor::People)?.load(tools, catalog)
    }

    /// Runs the tests of the files that decide, and says what became of each.
    ///
    /// A profile that is in force is a file like the others.
    pub(crate) fn test(
        self,
        options: &'a PolicyOptions,
        files: Files,
        tools: &ToolRegistry,
        catalog: &CommandCatalog,
    ) -> Result<Vec<TestReport>> {
        let read = FilesRead::of(self, options, files, NamesFor::People)?;
        let language = self.language(&read.snapshot, catalog)?;
        let named = |name: &str| named_tool(self.configuration, name);
        let loader = read.loader(language.clone()).tools(tools).other_tools(&named);
        let report = loader.test()?;
        let failed = |result: &TestResult| matches!(result.outcome(), TestOutcome::Failed(_));
        let profile = match (options.profile, files) {
            // The profile that files name is known when nothing is wrong with them.
            (None, Files::InForce) if !report.results().iter().any(failed) => loader.load()?.profile,
            (profile, _) => profile,
        };
        let mut reports = Vec::new();
        if let Some(profile) = profile {
            let name = format!("profile {profile}");
            let text = Snapshot::of(Path::new(&name), profile.text());
            let loader = PolicyLoader::new(language).without_default_profile();
            reports.push(loader.command_line(&name).source(&text).tools(tools).test()?);
        }
        reports.push(report);
        Ok(reports)
    }

    /// Reads the workspace's file as it would be read if it were trusted, and runs its tests.
    pub(crate) fn as_trusted(
        self,
        file: &WorkspaceFile,
        tools: &ToolRegistry,
        catalog: &CommandCatalog,
    ) -> Result<LoadedPolicy> {
        let language = self.language(&file.snapshot, catalog)?;
        let loader = PolicyLoader::new(language).others(TABLES).without_default_profile();
        let loader = loader.workspace(&file.read_as, Trust::Trusted).source(&file.snapshot);
        let named = |name: &str| named_tool(self.configuration, name);
        Ok(loader.tools(tools).other_tools(&named).load()?)
    }

    /// The language of rules, in which haft's own places and the files that were read are protected.
    fn language(self, snapshot: &Snapshot, catalog: &CommandCatalog) -> Result<RuleLanguage> {
        let user = &self.configuration.user.directories;
        let own = user.own_places().map(|place| resolved(&place));
        let protected: Vec<PathBuf> = own.chain(snapshot.files().map(|(path, _)| path)).collect();
        let commands = CommandPatterns::new().catalog(catalog.clone());
        let rules = user.default_rules(self.workdir).commands(commands);
        let rules = protected.iter().try_fold(rules, DefaultRules::protect);
        Ok(rules.context("cannot protect haft's own files")?.language())
    }
}

impl PolicyInForce {
    /// Gives an executor the policy, its limits and its mode.
    pub(crate) fn apply(&self, executor: LocalExecutorBuilder) -> LocalExecutorBuilder {
        self.loaded.apply(executor).mode(&self.mode).span_content(telemetry::span_content())
    }

    /// Refuses tools that are confined less than the policy says, or than its mode asks for where the command line has not
    /// given how far they are.
    pub(crate) fn check_sandbox(&self, of_tools: SandboxMode, given: Option<SandboxMode>) -> Result<()> {
        let said = self.loaded.sandbox;
        let least = given.map_or_else(|| least_in(self.loaded.mode), |_| SandboxMode::Off);
        let wanted = said.max(least);
        if wanted <= of_tools {
            return Ok(());
        }
        let message = if wanted == said {
            format!("the policy says `{wanted}` of the sandbox; give `--sandbox {wanted}`")
        } else {
            format!("in the mode `auto` commands are confined; give `--sandbox {wanted}`")
        };
        Err(UsageError(message).into())
    }

    /// Says on standard error what of the files does not count, and why.
    pub(crate) fn print_notes(&self) {
        for note in self.notes() {
            say_note(&note);
        }
    }

    /// Lists what people should know of the files.
    pub(crate) fn notes(&self) -> Vec<String> {
        let untrusted = self.untrusted.as_ref().map(|name| {
            let name = name.display();
            format!("{name} is not trusted, so it only takes away; look at it, then run `haft policy trust`")
        });
        untrusted.into_iter().chain(self.loaded.notes.iter().map(ToString::to_string)).collect()
    }

    /// Says what the decision builds on, in one line.
    pub(crate) fn describe(&self) -> String {
        let LoadedPolicy { profile, files, .. } = &self.loaded;
        let mode = self.mode.get();
        let profile = profile.map(|profile| format!("profile {profile}"));
        let parts: Vec<String> = profile.into_iter().chain(files.iter().cloned()).collect();
        let by = if parts.is_empty() { "no rules".to_owned() } else { parts.join(", ") };
        format!("{QUIET}decided by {}, in the mode {mode}{QUIET:#}", visible(&by))
    }
}

/// Tells whether there is a file, also one that cannot be looked at: what it says must not be lost for that.
pub(crate) fn is_there(path: &Path) -> bool {
    let is_missing = |error: io::Error| matches!(error.kind(), NotFound | NotADirectory);
    !path.symlink_metadata().is_err_and(is_missing)
}

/// Resolves as much of a path as there is.
fn resolved(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(canonical), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return canonical.join(rest);
        }
    }
    path.to_owned()
}
