use crate::agent::AgentSettings;
use crate::changes::ChangeQuota;
use crate::config::Configuration;
use crate::exit::UsageError;
use crate::mcp::offered::Wanted;
use crate::offered::WantedTools;
use crate::other_root::OtherRoot;
use crate::policy_setup::{PolicyOptions, PolicySetup};
use anyhow::{Context as _, Result};
use haft::core::RunId;
use haft::tools_core::{Limits, Mode};
use haft::{ToolRegistry, Workdir};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf, absolute};

/// The version of the form; a task of another is refused by name.
const VERSION: u32 = 1;

/// Says what a run was started to do and under which options, so that another process goes on with it alike.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    version: u32,
    pub(crate) work: What,
    /// The directory that the tools work in.
    pub(crate) workdir: PathBuf,
    /// The directories that they work in beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) roots: Vec<OtherRoot>,
    /// Whether the directory is a copy that goes with the run.
    #[serde(default)]
    pub(crate) scratch: bool,
    /// Whether calls are approved without asking.
    #[serde(default)]
    pub(crate) approve_all: bool,
    #[serde(default)]
    pub(crate) json: bool,
    /// Whether it does without the tools of MCP servers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_mcp: bool,
    /// Whether it does without the tools of OpenAPI documents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_openapi: bool,
    /// The directory with the agents that it can delegate to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agents: Option<PathBuf>,
    /// How much is kept to undo what it changes.
    #[serde(default)]
    pub(crate) quota: ChangeQuota,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sandbox: Option<String>,
}

/// What a run does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "does", rename_all = "snake_case")]
pub(crate) enum What {
    /// Plays a session.
    Session {
        /// Where the session is.
        session: PathBuf,
        /// Whether the scratch copy is kept.
        keep: bool,
    },
    /// Has a provider's model work.
    Agent(Box<AgentSettings>),
    /// Makes one call.
    Call {
        /// The tool.
        tool: String,
    },
    /// Makes the calls of an MCP client, who repeats those that waited.
    Serve {
        /// The client, as it was told apart from others.
        client: String,
    },
}

impl Task {
    pub(crate) fn new(work: What, workdir: &Path, policy: &PolicyOptions) -> Result<Self> {
        let policy_file = policy.policy.as_ref().map(absolute).transpose();
        let policy_file =
            policy_file.context("cannot tell where the policy is; write its whole path behind `--policy`")?;
        let file = match &work {
            What::Session { session, .. } => Some(session),
            What::Agent(settings) => settings.record.as_ref(),
            What::Call { .. } | What::Serve { .. } => None,
        };
        if let Some(path) = file.into_iter().chain(&policy_file).find(|path| path.to_str().is_none()) {
            let shown = path.display();
            let message =
                format!("the path `{shown}` is not UTF-8, so a run with it could not be kept; rename it");
            return Err(UsageError(message).into());
        }
        Ok(Self {
            version: VERSION,
            work,
            workdir: workdir.to_owned(),
            roots: Vec::new(),
            scratch: false,
            approve_all: false,
            json: false,
            no_mcp: false,
            no_openapi: false,
            agents: None,
            quota: ChangeQuota::default(),
            profile: policy.profile.map(|profile| profile.to_string()),
            policy: policy_file,
            mode: policy.mode.map(|mode| mode.to_string()),
            sandbox: policy.sandbox.map(|sandbox| sandbox.to_string()),
        })
    }

    /// Has the run go on in another mode.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = Some(mode.to_string());
    }

    /// Reads what was kept of a run.
    pub(crate) fn kept(host: &Value) -> Result<Self> {
        let task: Self = serde_json::from_value(host.clone()).context(
            "this version of haft cannot read how the run was started; go on with the version that began it",
        )?;
        anyhow::ensure!(
            task.version == VERSION,
            "the run was started by a version of haft that keeps it differently ({}, and this one reads {VERSION}); go on with that one",
            task.version
        );
        Ok(task)
    }

    /// Opens the directory that its run works in, which may be gone since.
    pub(crate) fn open_workdir(&self, run: &RunId) -> Result<Workdir> {
        let workdir = Workdir::open(&self.workdir).with_context(|| {
            let directory = self.workdir.display();
            UsageError(format!(
                "the run `{run}` works in `{directory}`, which cannot be opened; bring the directory back, or drop the run \
                 with `haft resume {run} --drop`"
            ))
        })?;
        OtherRoot::add(&self.roots, workdir)
    }

    /// What the command line that started it said of the policy.
    pub(crate) fn policy(&self) -> Result<PolicyOptions> {
        let unknown = || {
            UsageError("this version does not know the profile or mode that the run began with; go on with the version that began it, or give it up with `haft resume RUN --drop`".to_owned())
        };
        Ok(PolicyOptions {
            profile: self.profile.as_deref().map(str::parse).transpose().with_context(unknown)?,
            policy: self.policy.clone(),
            mode: self.mode.as_deref().map(str::parse).transpose().with_context(unknown)?,
            sandbox: self.sandbox.as_deref().map(str::parse).transpose().with_context(unknown)?,
        })
    }

    /// What its calls are bounded by: what the policy in force says, or what is so by default where it cannot be read.
    ///
    /// Reads policy files, so it takes a thread that may wait.
    pub(crate) fn limits(
        &self,
        configuration: &Configuration,
        workdir: &Workdir,
        tools: &ToolRegistry,
    ) -> Limits {
        let in_force = self.policy().and_then(|options| {
            let setup = PolicySetup::new(configuration, workdir, None);
            setup.in_force(&options, tools, &configuration.catalog()?)
        });
        in_force.map_or_else(|_| Limits::default(), |policy| policy.loaded.limits)
    }

    /// The tools that it needs beside those of this command.
    pub(crate) fn wanted(&self) -> WantedTools<'_> {
        let wanted = match &self.work {
            What::Serve { .. } => Wanted::Nothing,
            What::Session { .. } | What::Agent(_) => Wanted::All,
            What::Call { tool } => Wanted::Of(tool),
        };
        WantedTools::new(wanted, self.no_mcp, self.no_openapi)
    }

    /// Tells whether more can be said to its run when that has ended.
    pub(crate) fn can_be_prompted(&self) -> bool {
        matches!(self.work, What::Agent(_))
    }

    /// What it does, in a few words.
    pub(crate) fn describe(&self) -> String {
        match &self.work {
            What::Session { session, .. } => format!("session {}", session.display()),
            What::Agent(settings) => format!("agent {}", settings.model),
            What::Call { tool } => format!("call of {tool}"),
            What::Serve { client } => format!("calls of the MCP client {client}"),
        }
    }
}

/// What the names of runs begin with that are the calls of a client of `haft serve`.
pub(crate) const SERVED: &str = "mcp-";

/// Tells whether a run is the calls of a client of `haft serve`: it goes on when the client repeats a call.
pub(crate) fn is_served(run: &str) -> bool {
    run.starts_with(SERVED)
}
