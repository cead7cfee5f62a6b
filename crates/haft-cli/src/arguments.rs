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
  haft run examples/sessions/fix-failing-test";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools
    #[command(after_help = "Examples:\n  haft tools\n  haft tools --json | jq '.[].name'")]
    Tools(ToolsOptions),
    /// Call one tool
    #[command(after_help = "\
Reading below the working directory is allowed. Anything else is asked for on a terminal; where nobody can be asked,
the command exits with 3 unless --yes is given.

Examples:
  haft call read_file '{\"path\": \"README.md\", \"limit\": 5}'
  haft call grep '{\"pattern\": \"TODO\"}' --workdir ~/project
  haft call bash '{\"command\": \"cargo test\"}' --yes
  haft call write_file @arguments.json
  echo '{\"path\": \".\"}' | haft call list_files -")]
    Call(CallOptions),
    /// Play a recorded session with real tools
    #[command(after_help = "\
SESSION is a JSONL file of recorded model turns, or a directory that holds one as `session.jsonl`, with the prompt in
`prompt.md` and the project it works on in `project/`.

A session with a project plays on a scratch copy of it, which is removed afterwards, so it can be played again. There
the calls that are written down in the session are approved, as running a script does what is written in the script:
look at a session before you play it, or give --ask. With --workdir it plays in that directory itself and asks before
everything that does more than read there.

Examples:
  haft run examples/sessions/fix-failing-test
  haft run examples/sessions/fix-failing-test --ask --keep
  haft run session.jsonl --workdir ~/project
  haft run session.jsonl --json > events.jsonl")]
    Run(RunOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ToolsOptions {
    /// Print the specifications as JSON
    #[arg(long)]
    pub(crate) json: bool,
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
}
