mod in_force;

use crate::assembly::{Assembly, Layer};
use crate::file_tree::{FileTree, Files, Merged};
use crate::loaded_policy::LoadedPolicy;
use crate::policy_source::{LocalPolicySource, PolicySource};
use crate::policy_switches::PolicySwitches;
use crate::problem::{PolicyFileError, Problems};
use crate::test_report::TestReport;
use crate::testing::{TestTools, Tested};
use crate::{Profile, SandboxMode};
use haft_tools_core::{Mode, RuleLanguage, Tool, ToolRegistry};
use in_force::InForce;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Says whether whoever wrote a file is one who decides what agents may do.
///
/// What a stranger's file allows is still asked about, and what it denies is denied:
///
/// ```
/// use haft_policy::{PolicyLoader, Trust};
/// use haft_tools_core::{Accesses, RuleLanguage};
/// # use haft_core::{Decision, Schema, ToolSpec};
/// #
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "[permissions]\nallow = [\"bash\"]\ndeny = [\"send_mail\"]\n")?;
/// let decide = |trust, tool: &str| -> Result<Decision, Box<dyn std::error::Error>> {
///     let loaded = PolicyLoader::new(RuleLanguage::new()).workspace(&path, trust).load()?;
///     let tool = ToolSpec::new(tool.parse()?, "Does it.", Schema::empty());
///     Ok(loaded.policy.decide(&tool, &Accesses::none()).decision())
/// };
/// assert_eq!(decide(Trust::Trusted, "bash")?, Decision::Allow);
/// assert_eq!(decide(Trust::Untrusted, "bash")?, Decision::Ask);
/// assert_eq!(decide(Trust::Untrusted, "send_mail")?, Decision::Deny);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// What the file says counts.
    Trusted,
    /// What the file says counts as far as it takes something away.
    Untrusted,
}

/// Loads policy files in layers: a profile, the user's file, the workspace's and the command line's.
///
/// The first weighs most, the last is the most particular. A deny rule of any layer holds whatever the others say;
/// otherwise the last layer that speaks of an access decides, and what the last one says of the mode, the profile, the
/// sandbox or a limit counts.
///
/// A workspace's file that is not trusted only takes away. Its `deny` and `ask` rules hold, and those of its tables for
/// agents; its `allow` rules do not count. A mode, a profile, a sandbox or a limit of it counts where it is narrower than
/// what the layers above it say, and is otherwise ignored with a [note](LoadedPolicy::notes). Limits for chosen tools come
/// after those of all other layers, and as far as they are narrower than what holds for all tools. It includes only
/// files in its own folder and below it.
///
/// Only the files that are named here are read, and those that they include. All tests in them are run.
///
/// ```
/// use haft_core::Decision;
/// use haft_policy::{PolicyLoader, Trust};
/// use haft_tools_core::{Accesses, RuleLanguage};
///
/// # let folder = tempfile::tempdir()?;
/// let (user, workspace) = (folder.path().join("user.toml"), folder.path().join("workspace.toml"));
/// std::fs::write(&user, "[permissions]\nallow = [\"count_words\"]\n")?;
/// std::fs::write(&workspace, "[permissions]\nallow = [\"bash\"]\nmode = \"auto\"\n")?;
///
/// let loaded = PolicyLoader::new(RuleLanguage::new())
///     .user(&user)
///     .workspace(&workspace, Trust::Untrusted)
///     .load()?;
/// assert_eq!(loaded.mode, haft_tools_core::Mode::Default);
/// assert_eq!(loaded.notes.len(), 1);
///
/// # let spec = |name: &str| {
/// #     haft_core::ToolSpec::new(name.parse().expect("a name"), "Does it.", haft_core::Schema::empty())
/// # };
/// let decide = |tool: &str| loaded.policy.decide(&spec(tool), &Accesses::none()).decision();
/// assert_eq!((decide("count_words"), decide("bash")), (Decision::Allow, Decision::Ask));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PolicyLoader<'a> {
    language: RuleLanguage,
    default_profile: Option<Profile>,
    profile: Option<Profile>,
    mode: Option<Mode>,
    sandbox: Option<SandboxMode>,
    user: Option<PathBuf>,
    workspace: Option<(PathBuf, Trust)>,
    command_line: Option<PathBuf>,
    tools: TestTools<'a>,
    others: Vec<String>,
    source: Box<dyn PolicySource + 'a>,
}

impl<'a> PolicyLoader<'a> {
    /// Makes a loader that reads rules in a language, and finds no file but those it is told of.
    ///
    /// Without a profile that a file or the command line names, [`Profile::ReadOnly`] is what the rules build on.
    pub fn new(language: RuleLanguage) -> Self {
        Self {
            language,
            default_profile: Some(Profile::ReadOnly),
            profile: None,
            mode: None,
            sandbox: None,
            user: None,
            workspace: None,
            command_line: None,
            tools: TestTools::default(),
            others: Vec::new(),
            source: Box::new(LocalPolicySource),
        }
    }

    /// Builds on a profile where none is named.
    pub fn default_profile(mut self, profile: Profile) -> Self {
        self.default_profile = Some(profile);
        self
    }

    /// Builds on no profile where none is named: what no rule speaks of is asked about.
    pub fn without_default_profile(mut self) -> Self {
        self.default_profile = None;
        self
    }

    /// Reads the file of the person who runs the program.
    pub fn user(mut self, path: impl Into<PathBuf>) -> Self {
        self.user = Some(path.into());
        self
    }

    /// Reads the file of what is worked on, which whoever wrote that may have written.
    pub fn workspace(mut self, path: impl Into<PathBuf>, trust: Trust) -> Self {
        self.workspace = Some((path.into(), trust));
        self
    }

    /// Reads the file that was named for this run.
    pub fn command_line(mut self, path: impl Into<PathBuf>) -> Self {
        self.command_line = Some(path.into());
        self
    }

    /// Builds on the profile that was named for this run, whatever the files say.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Keeps what is run within a sandbox, or not, as was said for this run, whatever the files say.
    pub fn sandbox(mut self, sandbox: SandboxMode) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Starts in the mode that was named for this run, whatever the files say.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Has calls in tests prepared by these tools; without them such tests are not run, which a note says.
    pub fn tools(mut self, tools: &'a ToolRegistry) -> Self {
        self.tools.registry = Some(tools);
        self
    }

    /// Has calls in tests of tools that are not among those prepared by what this gives for their names, such as
    /// stand-ins for tools that are somewhere else.
    pub fn other_tools(mut self, named: &'a dyn Fn(&str) -> Option<Arc<dyn Tool>>) -> Self {
        self.tools.others = Some(named);
        self
    }

    /// Leaves tables of these names in the user's and the workspace's file to others, as
    /// [`PolicyFile::parse_with_others`](crate::PolicyFile::parse_with_others) does.
    pub fn others(mut self, tables: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.others = tables.into_iter().map(Into::into).collect();
        self
    }

    /// Reads files from another source than the file system.
    pub fn source(mut self, source: impl PolicySource + 'a) -> Self {
        self.source = Box::new(source);
        self
    }

    /// Reads the files, runs their tests and puts the layers together.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, something is wrong in one, files include each other in a circle, or a test fails:
    /// everything that is wrong with all files, except that tests are run only if nothing else is wrong.
    pub fn load(&self) -> Result<LoadedPolicy, PolicyFileError> {
        let assembly = Assembly::new(&self.language)?;
        let files = self.files()?;
        let (passed, not_run) = self.tested(&files, &assembly)?.counted()?;

        let merged = merged(&files);
        let layers = layers(&files, &merged);
        let mut in_force = self.in_force(&layers);
        let tool_limits = in_force.tool_limits(&layers);
        let profile = self.profile.or(in_force.profile);
        let names = files.iter().flat_map(|(_, tree, _)| tree.nodes());
        Ok(LoadedPolicy {
            policy: assembly.policy(profile, &layers)?,
            limits: in_force.limits,
            widths: in_force.widths,
            tool_limits,
            sandbox: self.sandbox.unwrap_or(in_force.sandbox),
            mode: self.mode.unwrap_or(in_force.mode),
            profile,
            files: names.map(|node| node.file.name().to_owned()).collect(),
            tests_not_run: not_run.len(),
            notes: in_force.notes.into_iter().chain(not_run).collect(),
            tests_passed: passed,
        })
    }

    /// Reads the files and runs their tests, and says what became of each.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, something is wrong in one, or files include each other in a circle.
    pub fn test(&self) -> Result<TestReport, PolicyFileError> {
        let assembly = Assembly::new(&self.language)?;
        Ok(TestReport::new(self.tested(&self.files()?, &assembly)?.results))
    }

    /// Reads the files, and says what of them holds whatever tools there are; no test is run.
    ///
    /// This is for programs whose tools depend on it, and that load the policy when those are there. Such a program gives a
    /// [source](Self::source) that keeps what it has read, so that what is loaded then is what was looked at here:
    ///
    /// ```
    /// use haft_policy::{PolicyLoader, SandboxMode};
    /// use haft_tools_core::RuleLanguage;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("policy.toml");
    /// std::fs::write(&path, "[sandbox]\nmode = \"prefer\"\n")?;
    /// let switches = PolicyLoader::new(RuleLanguage::new()).user(&path).switches()?;
    /// assert_eq!(switches.sandbox, SandboxMode::Prefer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`PolicyLoader::test`].
    pub fn switches(&self) -> Result<PolicySwitches, PolicyFileError> {
        let files = self.files()?;
        let in_force = self.in_force(&layers(&files, &merged(&files)));
        Ok(PolicySwitches {
            mode: self.mode.unwrap_or(in_force.mode),
            sandbox: self.sandbox.unwrap_or(in_force.sandbox),
        })
    }

    /// Puts together what the layers say once.
    fn in_force(&self, layers: &[Layer<'_>]) -> InForce {
        let mut in_force = InForce::new(self.default_profile);
        for layer in layers {
            in_force.add(layer);
        }
        in_force
    }

    fn tested(&self, files: &[LayerFiles], assembly: &Assembly<'_>) -> Result<Tested, PolicyFileError> {
        let mut tested = Tested::default();
        for (_, tree, _) in files {
            tested.run(tree, assembly, self.tools)?;
        }
        Ok(tested)
    }

    /// Reads the files of all layers, the weightiest first.
    fn files(&self) -> Result<Vec<LayerFiles>, PolicyFileError> {
        let workspace = self.workspace.as_ref().map(|(path, trust)| (path, *trust));
        let layers = [
            ("user", self.user.as_ref().map(|path| (path, Trust::Trusted))),
            ("workspace", workspace),
            ("command line", self.command_line.as_ref().map(|path| (path, Trust::Trusted))),
        ];
        let mut problems = Problems::default();
        let mut files = Vec::new();
        for (name, layer) in layers {
            let Some((path, trust)) = layer else { continue };
            // A file that is named for a run counts as a policy alone, so the tables of others must not be lost in it.
            let others = if name == "command line" { &[][..] } else { &self.others };
            match self.read(path, trust, others) {
                Ok(tree) => files.push((name, tree, trust)),
                Err(error) => problems.extend(error),
            }
        }
        problems.unless_any(files)
    }

    fn read(&self, path: &Path, trust: Trust, others: &[String]) -> Result<FileTree, PolicyFileError> {
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let confined = trust == Trust::Untrusted;
        FileTree::read(
            path,
            Files { source: &*self.source, language: &self.language, others: &others, confined },
        )
    }
}

/// Is the files of a layer, with its name.
type LayerFiles = (&'static str, FileTree, Trust);

fn merged(files: &[LayerFiles]) -> Vec<Merged> {
    files.iter().map(|(_, tree, _)| tree.merged()).collect()
}

fn layers<'a>(files: &[LayerFiles], merged: &'a [Merged]) -> Vec<Layer<'a>> {
    let layer = |((name, _, trust), says): (&LayerFiles, &'a Merged)| Layer {
        name,
        says,
        is_trusted: *trust == Trust::Trusted,
    };
    files.iter().zip(merged).map(layer).collect()
}

impl fmt::Debug for PolicyLoader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyLoader")
            .field("user", &self.user)
            .field("workspace", &self.workspace)
            .field("command_line", &self.command_line)
            .finish_non_exhaustive()
    }
}
