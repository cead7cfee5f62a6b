//! Scripts within the kernel's bounds.
//!
//! [`ShellSandbox`] makes a [`Confinement`] of what a call was allowed, for each call anew: the accesses that were
//! declared, decided and perhaps asked about are what the kernel then holds the script to.
//!
//! # From accesses to bounds
//!
//! | | a script that is understood | any other |
//! |---|---|---|
//! | reads | system directories, tool chains, the roots, what it declares | the same |
//! | writes | what it declares | the roots that may be written, and what it declares |
//! | connects | to the ports that it declares | the same; without any, to itself in a network of its own |
//!
//! A script is understood if it is known of each of its commands what it does: one that only reads then has nothing to
//! write to, so that a mistake of the analysis costs nothing. Of others a person or a rule has said that they may run, and
//! not what they do, and they get the roots.
//!
//! A declared file that is to be written in a root opens the directory that it lies in, because programs write beside it
//! and rename. Elsewhere it opens the file, or, where it is not there yet, the directory, unless that is one of the
//! system's or holds the home directory.
//!
//! # What is protected
//!
//! Protected places of a root are read only, unless a declared access names them. Those that are not there when the script
//! starts can be made by it, and are set aside when it has ended: renamed, and the model is told.
//!
//! Looked at are the roots themselves and the directories from there to where the script runs. A repository deeper down,
//! or one that the script makes, has hooks that can be written. In one that was there, a submodule or worktree that is added
//! may have what git itself writes for it, and nothing else that git runs.
//!
//! # What is denied
//!
//! What a failed script printed is searched for paths and hosts that the sandbox kept it from, and of those the model is
//! told how to ask for them: by `access` of the next call, which is declared, and so decided, like everything else.

mod aside;
mod confined;
mod declared;
mod denial;
mod places;
mod repository;
mod requests;

pub(crate) use confined::Confined;
pub(crate) use requests::requested;

use std::path::PathBuf;
use std::sync::Arc;

use haft_process::sandbox::{Confinement, ResourceLimits, Sandbox, SandboxLack, Scratch};
use places::Pattern;

/// Says that scripts are confined by the kernel, and what to besides what each call was allowed.
///
/// ```
/// use haft_tool_shell::{Bash, Environment, ShellSandbox};
/// use haft_tools_core::Tool as _;
///
/// let tree = haft_testkit::Tree::new();
/// let sandbox = ShellSandbox::prefer().protect(".git/hooks").protect(".envrc");
/// for lack in sandbox.lacks() {
///     println!("weaker: {lack}");
/// }
/// let bash = Bash::new(tree.workdir(), Environment::minimal()).sandbox(sandbox);
/// assert!(bash.spec().input_schema().as_value()["properties"]["access"].is_object());
/// ```
#[derive(Debug, Clone)]
pub struct ShellSandbox {
    is_required: bool,
    sandbox: Sandbox,
    protected: Vec<Pattern>,
    protected_paths: Vec<PathBuf>,
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    limits: ResourceLimits,
    scratch: Option<Arc<Scratch>>,
}

impl ShellSandbox {
    /// Confines scripts as far as this machine can; [`lacks`](Self::lacks) says what is weaker.
    pub fn prefer() -> Self {
        Self {
            is_required: false,
            sandbox: Sandbox::probe().clone(),
            protected: Vec::new(),
            protected_paths: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            hidden: Vec::new(),
            limits: ResourceLimits::default(),
            scratch: None,
        }
    }

    /// Confines scripts, and refuses to run one where what confines it cannot be had; that a limit cannot is only told.
    pub fn require() -> Self {
        Self { is_required: true, ..Self::prefer() }
    }

    /// Takes another machine's abilities, such as [`Sandbox::missing`], for those of this one: for tests.
    pub fn on(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Keeps a place from being written wherever it lies in a root, with all below it: `.envrc`, `.git/hooks`,
    /// `.git/modules/**/hooks`.
    pub fn protect(mut self, pattern: &str) -> Self {
        self.protected.push(Pattern::new(pattern));
        self
    }

    /// Keeps a place at an absolute path from being written, with all below it.
    pub fn protect_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.protected_paths.push(path.into());
        self
    }

    /// Lets all scripts read a file or a tree at an absolute path.
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// Lets all scripts that are not understood write a file or a tree at an absolute path, such as a cache.
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// Shows scripts nothing of a file or a tree at an absolute path.
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Bounds how much a script may use.
    pub fn limits(mut self, limits: ResourceLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Gives scripts this directory in the place of `/tmp`; what one leaves there the next one finds.
    pub fn scratch(mut self, scratch: Scratch) -> Self {
        self.scratch = Some(Arc::new(scratch));
        self
    }

    /// Lists what of the sandbox cannot be had on this machine; where it is required, no script runs then, unless only
    /// [limits](SandboxLack::is_of_limits) are lacking.
    pub fn lacks(&self) -> Vec<SandboxLack> {
        // A confinement that needs all there is.
        let all =
            Confinement::new().protect("/").network(haft_process::sandbox::Network::Ports([443].into()));
        let all = if self.hidden.is_empty() { all } else { all.hide("/") };
        self.sandbox.lacks(&all)
    }
}
