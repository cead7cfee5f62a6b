use crate::arguments::Term;
use crate::cluster::EngineUrl;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List the calls that wait
    #[command(after_help = "Examples:\n  haft approvals list\n  haft approvals list --json | jq '.[].id'")]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Show what a call would do, why it is asked about and what could be remembered
    #[command(
        after_help = "Examples:\n  haft approvals show 3f2a\n  haft approvals show 3f2a --json | jq '.call.input'"
    )]
    Show(ShowOptions),
    /// Let a call run as it was shown
    #[command(
        after_help = "Examples:\n  haft approvals approve 3f2a\n  haft approvals approve 3f2a --for workspace"
    )]
    Approve(ApproveOptions),
    /// Do not let a call run
    #[command(
        after_help = "Examples:\n  haft approvals deny 3f2a --reason 'use the staging database'\n  haft approvals deny 3f2a --never"
    )]
    Deny(DenyOptions),
    /// Let a call run with other arguments
    #[command(
        after_help = "Examples:\n  haft approvals edit 3f2a\n  haft approvals edit 3f2a --input '{\"command\": \"cargo test -p haft\"}'"
    )]
    Edit(EditOptions),
}

/// Says where calls wait.
#[derive(Debug, Args)]
#[command(next_help_heading = "Engine")]
pub(crate) struct PlaceOptions {
    /// Those that wait in an engine, on whichever machine they were made: at this address of its ingress, or that of `[executor]` in
    /// the `haft.toml` that is here
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "an option of the command line whose value may be left out")]
    pub(crate) restate: Option<Option<EngineUrl>>,
    /// Ask its admin interface at this address; by default on the same machine at the port 9070
    #[arg(long, value_name = "URL", requires = "restate")]
    pub(crate) admin: Option<EngineUrl>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// The call that waits
    pub(crate) id: String,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: PlaceOptions,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerOptions {
    /// The call that waits
    pub(crate) id: String,
    /// Print what became of it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: PlaceOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveOptions {
    #[command(flatten)]
    pub(crate) which: AnswerOptions,
    /// Remember it, exactly as shown, for as long
    #[arg(long = "for", value_name = "TERM")]
    pub(crate) term: Option<Term>,
}

#[derive(Debug, Args)]
pub(crate) struct DenyOptions {
    #[command(flatten)]
    pub(crate) which: AnswerOptions,
    /// Why, for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Deny what touches the same from now on, too; for the workspace if nothing else is said
    #[arg(long, value_name = "TERM", num_args = 0..=1, default_missing_value = "workspace")]
    pub(crate) never: Option<Term>,
}

#[derive(Debug, Args)]
pub(crate) struct EditOptions {
    #[command(flatten)]
    pub(crate) which: AnswerOptions,
    /// The arguments: JSON, `-` for standard input, or `@FILE`; by default those of the call in your editor
    #[arg(long, value_name = "JSON|-|@FILE")]
    pub(crate) input: Option<String>,
}
