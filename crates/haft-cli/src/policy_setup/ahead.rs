use super::files_read::FilesRead;
use super::naming::NamesFor;
use super::{Files, PolicyInForce, PolicyOptions, PolicySetup};
use anyhow::Result;
use haft::ToolRegistry;
use haft::policy::SandboxMode;
use haft::shell::CommandCatalog;
use haft::tools_core::Mode;

/// Is the policy in force as far as it can be told before there are tools, which depend on it.
pub(crate) struct PolicyAhead<'a> {
    setup: PolicySetup<'a>,
    options: &'a PolicyOptions,
    /// What is wrong with the files is told when they are loaded.
    read: Result<FilesRead<'a>>,
}

impl<'a> PolicyAhead<'a> {
    /// Reads the files in force, as models may read of their rules.
    pub(crate) fn of(setup: PolicySetup<'a>, options: &'a PolicyOptions) -> Self {
        Self { setup, options, read: FilesRead::of(setup, options, Files::InForce, NamesFor::Models) }
    }

    /// Says how far commands are to be confined.
    ///
    /// In the mode `auto`, which lets through what nobody has looked at, they are confined where they can be, unless
    /// `--sandbox` says otherwise.
    pub(crate) fn sandbox(&self) -> SandboxMode {
        if let Some(mode) = self.options.sandbox {
            return mode;
        }
        let Ok(FilesRead { switches, .. }) = &self.read else { return SandboxMode::Off };
        switches.sandbox.max(least_in(switches.mode))
    }

    /// How far the command line says that commands are to be confined.
    pub(crate) fn given_sandbox(&self) -> Option<SandboxMode> {
        self.options.sandbox
    }

    /// Loads the policy for these tools, as [`PolicySetup::in_force`] says.
    pub(crate) fn in_force(self, tools: &ToolRegistry, catalog: &CommandCatalog) -> Result<PolicyInForce> {
        self.read.and_then(|read| read.load(tools, catalog)).or_else(|error| {
            // What is wrong is told to people.
            self.setup.load(self.options, Files::InForce, tools, catalog).and(Err(error))
        })
    }
}

/// How far commands are confined at least in a mode, where the command line does not say it.
pub(super) fn least_in(mode: Mode) -> SandboxMode {
    match mode {
        Mode::Auto => SandboxMode::Prefer,
        _ => SandboxMode::Off,
    }
}
