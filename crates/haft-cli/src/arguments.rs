use crate::policy::arguments::PolicyCommand;
use crate::policy_setup::PolicyOptions;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Holds the world for AI agents: tools that are described, permitted, run and recorded.
#[derive(Debug, Parser)]
#[command(name = "haft", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed, denied or cancelled
  2  used wrongly: an argument, a file or a directory
  3  waiting for an approval

Examples:
  haft tools
  haft call read_file '{\"path\": \"README.md\", \"limit\": 5}'
  haft run examples/sessions/fix-failing-test
  haft policy explain 'git status && rm x'";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools
    #[command(
        after_help = "Tools that the policy denies altogether are marked.\n\nExamples:\n  haft tools\n  haft tools --policy team.toml\n  haft tools --json | jq '.[].name'"
    )]
    Tools(ToolsOptions),
    /// Call one tool
    #[command(after_help = "\
A policy decides whether it may run: that of --policy, of `haft.toml` in the working directory and of your own, on top of \
a profile. Without any of them the profile `read_only` allows to look at the files of the working directory. What is asked \
about is asked on a terminal; where nobody can be asked, the command exits with 3 unless --yes is given.

`haft policy explain` says what would be decided, and why.

Examples:
  haft call read_file '{\"path\": \"README.md\", \"limit\": 5}'
  haft call grep '{\"pattern\": \"TODO\"}' --workdir ~/project
  haft call bash '{\"command\": \"cargo test\"}' --yes
  haft call write_file @arguments.json
  echo '{\"path\": \".\"}' | haft call list_files -")]
    Call(CallOptions),
    /// Play a recorded session with real tools
    #[command(after_help = "\
SESSION is a JSONL file of recorded model turns, or a directory that holds one as `session.jsonl`, with the prompt in \
`prompt.md` and the project it works on in `project/`.

A session with a project plays on a scratch copy of it, which is removed afterwards, so it can be played again. There \
the calls that are written down in the session are approved, as running a script does what is written in the script: \
look at a session before you play it, or give --ask. With --profile, --policy or --mode, and with --workdir, which has it \
play in that directory itself, the policy decides as it does for `haft call`. Rules that deny hold in any case.

Examples:
  haft run examples/sessions/fix-failing-test
  haft run examples/sessions/fix-failing-test --ask --keep
  haft run session.jsonl --workdir ~/project
  haft run session.jsonl --profile workspace_write
  haft run session.jsonl --json > events.jsonl")]
    Run(RunOptions),
    /// Check, test, explain, show and trust the rules of what may be done
    #[command(
        arg_required_else_help = true,
        after_help = "\
Examples:
  haft policy explain 'git status && rm x'
  haft policy check haft.toml
  haft policy test
  haft policy show workspace_write
  haft policy trust"
    )]
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ToolsOptions {
    /// Print the specifications as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// The tool
    pub(crate) name: String,
    /// The arguments: JSON, `-` for standard input, or `@FILE`
    #[arg(value_name = "JSON|-|@FILE")]
    pub(crate) input: String,
    /// The directory the tools work in; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Approve without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the reply as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The session: a JSONL file, or a directory with `session.jsonl`
    pub(crate) session: PathBuf,
    /// Play in this directory itself, not on a scratch copy
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Approve without asking
    #[arg(long, conflicts_with = "ask")]
    pub(crate) yes: bool,
    /// Ask on a scratch copy, too
    #[arg(long)]
    pub(crate) ask: bool,
    /// Keep the scratch copy and say where it is
    #[arg(long, conflicts_with = "workdir")]
    pub(crate) keep: bool,
    /// Print events and a summary as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}
