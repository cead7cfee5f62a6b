use crate::policy_setup::PolicyOptions;
use clap::{Args, Subcommand};
use haft::policy::Profile;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Check a policy file: that it can be read, and that its tests pass
    #[command(after_help = "\
Everything that is wrong is told at once, with the line. The exit code is 1 if anything is.

Examples:
  haft policy check haft.toml
  haft policy check policies/*.toml
  haft policy check haft.toml --json | jq '.[].problems'")]
    Check(CheckOptions),
    /// Run the tests of policy files
    #[command(after_help = "\
Without FILE, --policy and --profile it runs the tests of the files in force. Each file is tested by itself, with what it \
includes and the profile it names. The exit code is 1 if a test fails.

Examples:
  haft policy test
  haft policy test team.toml
  haft policy test --profile read_only
  haft policy test --json | jq '.tests[] | select(.outcome == \"failed\")'")]
    Test(TestOptions),
    /// Say what would be decided about a call, by which rule, and what would change it
    #[command(after_help = "\
CALL is a shell command, a call such as '{\"tool\": \"read_file\", \"input\": {\"path\": \"README.md\"}}', or an access such as \
'write(src/lib.rs)'. Nothing is run.

The files in force decide: a profile, yours, the workspace's and what the command line adds. With --policy or --profile \
only that file or that profile does. What was remembered of earlier answers is left out: a call that is asked about here may \
be granted, or forbidden, by it. `haft grants list` shows it.

With --stdin each line is a call if it is a JSON object with `tool` and `input`, and otherwise a shell command, unless it is another object; each gets \
one line of output, in order. What cannot be prepared is never run, so it is denied, with the `error`.

Examples:
  haft policy explain 'git status && rm x'
  haft policy explain --policy team.toml '{\"tool\": \"glob\", \"input\": {\"pattern\": \"*\"}}'
  haft policy explain --profile workspace_write --mode plan 'write(src/lib.rs)'
  haft policy explain --profile read_only --stdin --json < commands.txt")]
    Explain(ExplainOptions),
    /// Print a built-in profile as a policy file
    #[command(after_help = "\
Examples:
  haft policy show
  haft policy show workspace_write > my-policy.toml")]
    Show(ShowOptions),
    /// Trust the policy file of a workspace as it is now
    #[command(after_help = "\
Until it is trusted, the `haft.toml` of a workspace only takes away: what it allows does not count. Trust is for exactly \
what the file and all that it includes say now; after a change it is not trusted again. Look at it first.

Examples:
  haft policy trust
  haft policy trust --workdir ~/project")]
    Trust(TrustOptions),
    /// Trust the policy file of a workspace no more
    #[command(after_help = "Examples:\n  haft policy untrust\n  haft policy untrust --workdir ~/project")]
    Untrust(TrustOptions),
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// The policy files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The directory that paths in rules are relative to; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestOptions {
    /// The policy files; those in force by default
    #[arg(value_name = "FILE", conflicts_with_all = ["policy", "profile"])]
    pub(crate) files: Vec<PathBuf>,
    /// The directory that paths in rules are relative to; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainOptions {
    /// A shell command, a call as JSON, or an access
    #[arg(value_name = "CALL")]
    pub(crate) call: Option<String>,
    /// Take one call or shell command from each line of standard input
    #[arg(long, conflicts_with = "call")]
    pub(crate) stdin: bool,
    /// Print one JSON object for each
    #[arg(long)]
    pub(crate) json: bool,
    /// Decide for this agent; several times for one that the agent before it started
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Vec<String>,
    /// The directory the tools would work in; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// The profile; all are listed by default
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: Option<Profile>,
}

#[derive(Debug, Args)]
pub(crate) struct TrustOptions {
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
}
