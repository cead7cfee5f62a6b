//! Which policy files hold, and what they come to.

mod naming;
mod snapshot;
mod trust;

pub(crate) use trust::{TrustStore, WorkspaceFile};

use crate::config::{self, TABLES};
use crate::exit::UsageError;
use crate::offered::NamedTools;
use crate::paint::{ASKS, QUIET};
use crate::telemetry;
use crate::timeline::visible;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::{Context as _, Result};
use clap::Args;
use haft::policy::{
    LoadedPolicy, PolicyLoader, Profile, SandboxMode, TestOutcome, TestReport, TestResult, Trust,
};
use haft::shell::{CommandCatalog, CommandPatterns};
use haft::{LocalExecutorBuilder, Mode, ModeSwitch, RuleLanguage, Tool, ToolRegistry, Workdir};
use naming::{NamesFor, Naming};
use snapshot::Snapshot;
pub(crate) use snapshot::hex;
use std::io::{
    self,
    ErrorKind::{NotADirectory, NotFound},
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// Says what a policy is made of.
#[derive(Clone, Copy)]
struct Layers<'a> {
    options: &'a PolicyOptions,
    files: Files,
    workspace: Option<&'a WorkspaceFile>,
    naming: &'a Naming<'a>,
}

/// Gives the tool of a name, if there is one.
type Named<'a> = dyn Fn(&str) -> Option<Arc<dyn Tool>> + 'a;

/// Knows where policy files are, and what they are read for.
pub(crate) struct PolicySetup<'a> {
    workdir: &'a Workdir,
    /// The directory as it was given, for names that people know.
    given: &'a Path,
    tools: &'a ToolRegistry,
    user: UserDirectories,
    /// Stands for tools of MCP servers and of OpenAPI documents that are not among the tools.
    named: Box<Named<'a>>,
    /// What is known of commands, if that is not what the files in force say.
    catalog: Option<CommandCatalog>,
}

/// Holds the policy that calls are decided by.
pub(crate) struct PolicyInForce {
    pub(crate) loaded: LoadedPolicy,
    /// The mode that runs are in now: that of the policy, until a person says otherwise.
    pub(crate) mode: ModeSwitch,
    /// The workspace's own file, if there is one and it counts.
    pub(crate) workspace: Option<WorkspaceFile>,
}

impl<'a> PolicySetup<'a> {
    /// Looks for the user's files where the environment says, and for the workspace's in the working directory.
    pub(crate) fn new(workdir: &'a Workdir, given: Option<&'a Path>, tools: &'a ToolRegistry) -> Self {
        let given = given.unwrap_or(Path::new(""));
        let configured = NamedTools::new(workdir);
        let named = move |name: &str| configured.tool(name);
        let (user, named) = (UserDirectories::from_environment(), Box::new(named));
        Self { workdir, given, tools, user, named, catalog: None }
    }

    /// Has rules about commands go by another catalog than that of the files in force.
    pub(crate) fn by_catalog(mut self, catalog: CommandCatalog) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// Looks for the user's files elsewhere.
    pub(crate) fn for_user(mut self, user: UserDirectories) -> Self {
        self.user = user;
        self
    }

    /// Reads the files in force, each weighing more than the next: the profile, the user's, the workspace's and the one of
    /// the command line; models may read of their rules.
    ///
    /// Where no file and no option names a profile, the rules build on `read_only`.
    pub(crate) fn in_force(&self, options: &PolicyOptions) -> Result<PolicyInForce> {
        self.load_named(options, Files::InForce, NamesFor::Models).or_else(|error| {
            // What is wrong is told to people.
            self.load_named(options, Files::InForce, NamesFor::People).and(Err(error))
        })
    }

    /// Reads the files that decide, and runs their tests, for people.
    pub(crate) fn load(&self, options: &PolicyOptions, files: Files) -> Result<PolicyInForce> {
        self.load_named(options, files, NamesFor::People)
    }

    fn load_named(&self, options: &PolicyOptions, files: Files, names: NamesFor) -> Result<PolicyInForce> {
        let naming = self.naming(names);
        let snapshot = naming.snapshot(options.policy.as_deref());
        let workspace = self.workspace_of(files, &naming, &snapshot)?;
        let layers = Layers { options, files, workspace: workspace.as_ref(), naming: &naming };
        let loaded = self.loader(layers, &snapshot)?.load()?;
        let mode = ModeSwitch::new(loaded.mode);
        Ok(PolicyInForce { loaded, mode, workspace })
    }

    fn naming(&self, names: NamesFor) -> Naming<'_> {
        Naming { names, workdir: self.workdir, given: self.given, user: &self.user }
    }

    /// Runs the tests of the files that decide, and says what became of each.
    ///
    /// A profile that is in force is a file like the others.
    pub(crate) fn test(&self, options: &PolicyOptions, files: Files) -> Result<Vec<TestReport>> {
        let naming = self.naming(NamesFor::People);
        let snapshot = naming.snapshot(options.policy.as_deref());
        let workspace = self.workspace_of(files, &naming, &snapshot)?;
        let layers = Layers { options, files, workspace: workspace.as_ref(), naming: &naming };
        let loader = self.loader(layers, &snapshot)?;
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
            let loader = PolicyLoader::new(self.language(&snapshot)?).without_default_profile();
            reports.push(loader.command_line(&name).source(&text).tools(self.tools).test()?);
        }
        reports.push(report);
        Ok(reports)
    }

    /// Makes a loader of the layers.
    fn loader<'s>(&'s self, layers: Layers<'s>, snapshot: &'s Snapshot) -> Result<PolicyLoader<'s>> {
        let Layers { options, files, workspace, naming } = layers;
        let loader = |language: RuleLanguage| {
            let mut loader = PolicyLoader::new(language).others(TABLES).source(snapshot);
            if files == Files::Named {
                loader = loader.without_default_profile();
            } else if let Some(user) = self.user_file_name() {
                loader = loader.user(user);
            }
            if let Some(WorkspaceFile { read_as, trust, .. }) = workspace {
                loader = loader.workspace(read_as, *trust);
            }
            if let Some(file) = &options.policy {
                let file = naming.command_line(file);
                // Looked at by itself, it may be what is to be the user's or a workspace's.
                loader = match files {
                    Files::InForce => loader.command_line(file),
                    Files::Named => loader.user(file),
                };
            }
            if let Some(profile) = options.profile {
                loader = loader.profile(profile);
            }
            if let Some(sandbox) = options.sandbox {
                loader = loader.sandbox(sandbox);
            }
            match options.mode {
                Some(mode) => loader.mode(mode),
                None => loader,
            }
        };
        // Which files there are is known when they have been read; then they are read again in a language that protects
        // each of them, from the snapshot, and not from files that may have changed.
        loader(self.plain_language()).test()?;
        Ok(loader(self.language(snapshot)?).tools(self.tools).other_tools(&self.named))
    }

    /// Reads the workspace's file as far as to tell whether it is trusted.
    pub(crate) fn look_at_workspace(&self) -> Result<Option<WorkspaceFile>> {
        let naming = self.naming(NamesFor::People);
        self.workspace_file(&naming, &naming.snapshot(None))
    }

    /// Reads the workspace's file as it would be read if it were trusted, and runs its tests.
    pub(crate) fn as_trusted(&self, file: &WorkspaceFile) -> Result<LoadedPolicy> {
        let loader =
            PolicyLoader::new(self.language(&file.snapshot)?).others(TABLES).without_default_profile();
        let loader = loader.workspace(&file.read_as, Trust::Trusted).source(&file.snapshot);
        Ok(loader.tools(self.tools).other_tools(&self.named).load()?)
    }

    /// The path of the workspace's file, which need not be there.
    pub(crate) fn workspace_path(&self) -> PathBuf {
        self.workdir.root_path().join(POLICY_FILE)
    }

    /// Where it is kept which workspaces are trusted.
    pub(crate) fn trust_store(&self) -> Result<TrustStore> {
        Ok(TrustStore::new(self.user.state()?))
    }

    /// The language of rules, in which haft's own places and the files that were read are protected.
    fn language(&self, snapshot: &Snapshot) -> Result<RuleLanguage> {
        let own = self.user.own_places().map(|place| resolved(&place));
        let protected: Vec<PathBuf> = own.chain(snapshot.files().map(|(path, _)| path)).collect();
        let catalog = match &self.catalog {
            Some(catalog) => catalog.clone(),
            None => config::catalog(self.workdir)?,
        };
        let commands = CommandPatterns::new().catalog(catalog);
        haft::rule_language_by(commands, self.workdir, self.user.home().as_deref(), protected)
            .context("cannot protect haft's own files")
    }

    fn user_file(&self) -> Option<PathBuf> {
        self.user.policy_file().filter(|path| is_there(path))
    }

    /// The user's file as it is written for people and models.
    fn user_file_name(&self) -> Option<PathBuf> {
        self.user_file()?;
        Some(Path::new(self.user.config()?.1).join(POLICY_FILE))
    }

    fn plain_language(&self) -> RuleLanguage {
        haft::rule_language(self.workdir, self.user.home().as_deref())
    }

    fn workspace_of(
        &self,
        files: Files,
        naming: &Naming<'_>,
        snapshot: &Snapshot,
    ) -> Result<Option<WorkspaceFile>> {
        match files {
            Files::InForce => self.workspace_file(naming, snapshot),
            Files::Named => Ok(None),
        }
    }

    fn workspace_file(&self, naming: &Naming<'_>, snapshot: &Snapshot) -> Result<Option<WorkspaceFile>> {
        let read_as = naming.workspace();
        let path = self.workspace_path();
        if !is_there(&path) {
            return Ok(None);
        }
        let is_users = || Some(path.canonicalize().ok()? == self.user_file()?.canonicalize().ok()?);
        if is_users() == Some(true) {
            return Ok(None);
        }
        let digest = {
            let loader = PolicyLoader::new(self.plain_language()).others(TABLES).source(snapshot);
            // What is wrong with the file is told when it is read as what it is.
            loader.workspace(&read_as, Trust::Trusted).load().ok().map(|_| snapshot.digest())
        };
        let mut file = WorkspaceFile {
            name: self.given.join(POLICY_FILE),
            read_as,
            path,
            digest,
            trust: Trust::Untrusted,
            snapshot: snapshot.clone(),
        };
        if let Ok(store) = self.trust_store()
            && store.trusts(&file)?
        {
            file.trust = Trust::Trusted;
        }
        Ok(Some(file))
    }
}

impl PolicyInForce {
    /// Gives an executor the policy, its limits and its mode.
    pub(crate) fn apply(&self, executor: LocalExecutorBuilder) -> LocalExecutorBuilder {
        self.loaded.apply(executor).mode(&self.mode).span_content(telemetry::span_content())
    }

    /// Refuses tools that are confined less than the policy says.
    pub(crate) fn check_sandbox(&self, of_tools: SandboxMode) -> Result<()> {
        let wanted = self.loaded.sandbox;
        if wanted <= of_tools {
            return Ok(());
        }
        let message = format!("the policy says `{wanted}` of the sandbox; give `--sandbox {wanted}`");
        Err(UsageError(message).into())
    }

    /// Says on standard error what of the files does not count, and why.
    pub(crate) fn print_notes(&self) {
        for note in self.notes() {
            anstream::eprintln!("{ASKS}note{ASKS:#}: {}", visible(&note));
        }
    }

    /// Lists what people should know of the files.
    pub(crate) fn notes(&self) -> Vec<String> {
        let untrusted = self.workspace.as_ref().filter(|file| file.trust == Trust::Untrusted).map(|file| {
            let name = file.name.display();
            format!("{name} is not trusted, so it only takes away; look at it, then say `haft policy trust`")
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
