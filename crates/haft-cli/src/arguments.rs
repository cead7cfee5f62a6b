#[cfg(test)]
mod tests;

use crate::agent::arguments::AgentOptions;
use crate::approvals::ApprovalsCommand;
use crate::changes::{ChangeQuota, DiffOptions, UndoOptions};
use crate::completions::CompletionsOptions;
use crate::config::arguments::ConfigCommand;
use crate::doctor::DoctorOptions;
use crate::import::ImportOptions;
use crate::init::InitOptions;
use crate::man::ManOptions;
use crate::mcp::arguments::McpCommand;
use crate::openapi::arguments::OpenApiCommand;
use crate::other_root::OtherRoot;
use crate::policy::arguments::PolicyCommand;
use crate::policy_setup::PolicyOptions;
use crate::report::ReportOptions;
use crate::schema::SchemaOptions;
use crate::serve::ServeOptions;
use crate::worker::WorkerOptions;
use clap::{Args, Parser, Subcommand, ValueEnum};
use haft::tools_core::GrantTerm;
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
about is asked on a terminal; where nobody can be asked, the call is kept and the command exits with 3 unless --yes is \
given. `haft approvals` answers it, and `haft resume` goes on with it.

`haft policy explain` says what would be decided, and why.

The exit code is that of the call: it is 0 where `bash` has run a command that fails, whose own exit code is in the result, \
with --json as `exit_code`.

Examples:
  haft call read_file '{\"path\": \"README.md\", \"limit\": 5}'
  haft call grep '{\"pattern\": \"TODO\"}' --workdir ~/project
  haft call read_file '{\"path\": \"/usr/share/dict/words\"}' --root /usr/share/dict:ro
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

A run that waits for an approval is kept: killed or ended, it goes on with `haft resume`.

Examples:
  haft run examples/sessions/fix-failing-test
  haft run examples/sessions/fix-failing-test --ask --keep
  haft run session.jsonl --workdir ~/project
  haft run session.jsonl --profile workspace_write
  haft run session.jsonl --json > events.jsonl")]
    Run(RunOptions),
    /// Have a provider's model work on a task by the tools, or talk to it
    #[command(after_help = "\
The key comes from the environment: ANTHROPIC_API_KEY for `anthropic/NAME`, OPENAI_API_KEY for `openai/NAME`. With --base-url it is \
sent to that service, which must be asked by `https` unless it is on this machine; a header such as --header 'api-key: \
$AZURE_KEY' takes its place. Keys and the values of headers are shown nowhere and kept nowhere.

A policy decides about each call as it does for `haft call`. The run is kept for a month: killed, or waiting for an \
approval, it goes on with `haft resume`, and more can be said to it when it has ended. Ctrl-C ends it with every call answered, \
and a second time at once.

When a budget is spent, the model is told and has one more turn, without tools. With --record, what the model says is written as a \
session that `haft run FILE` plays.

Without a prompt it is a chat: each message goes on with what was said, and may spend as much as the first. `/help` lists what can \
be entered beside that. On a terminal Ctrl-C stops what is done and comes back to the prompt; elsewhere each line of standard \
input is a message. A chat is one run, which is kept: --resume talks on in it.

Examples:
  haft agent
  haft agent --model anthropic/claude-sonnet-4-5 'Which tests are slow, and why?'
  haft agent --model openai/gpt-5.1 --profile workspace_write --max-cost 0.50 --price in=1.25,out=10 'Fix the failing test.'
  haft agent --model openai/qwen3 --base-url http://127.0.0.1:11434/v1 'What does this project do?'
  git diff | haft agent --model anthropic/claude-sonnet-4-5 --record review.jsonl -
  haft agent --resume run-19c4")]
    Agent(Box<AgentOptions>),
    /// Write a `haft.toml` for the project that is here
    #[command(after_help = "\
It is written by what is found here: the language, its tests, secrets that must not be read. Nothing is asked, nothing is run, and \
a file that is there is kept. Since you have it written, it is trusted as it is.

Examples:
  haft init
  haft init --print
  haft init --user")]
    Init(InitOptions),
    /// Carry over what Claude Code, Codex or a `.mcp.json` is told, and list what cannot be
    #[command(after_help = "\
Without --write it only shows what it would change. The files of the project go into the `haft.toml` that is here, and with --user \
your own into your own: rules, modes, further directories, MCP servers, models and their providers. What is carried over allows no more \
than it did there, and what must not happen stays so. Nothing that is set is written over, and no secret is copied: a variable stands \
for it. All that is left out is listed with its place and the reason.

Examples:
  haft import
  haft import claude-code --write
  haft import codex --user
  haft import --json | jq '.left'")]
    Import(ImportOptions),
    /// Check and show what `haft.toml` says, yours and the workspace's
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  haft config show\n  haft config check"
    )]
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Look whether all that haft needs here is there and works, with what to do where it is not
    #[command(after_help = "\
It looks at the configuration and its tests, the directory, the sandbox, programs, MCP servers, OpenAPI documents, models and their \
keys, at what is remembered and at who can write it. Nothing is changed, nothing is started but programs that tell their version, and \
keys are not shown. With --connect, servers are started and services asked, too, all at once.

The exit code is 1 if anything is an error.

Examples:
  haft doctor
  haft doctor --connect --connect-time 60
  haft doctor --json | jq '.findings[] | select(.severity == \"error\")'")]
    Doctor(DoctorOptions),
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
    /// Add, list, try and trust MCP servers, and call their tools
    #[command(
        arg_required_else_help = true,
        after_help = "\
Servers are tables `[mcp.servers.NAME]` of `haft.toml`, yours and the workspace's, and those of the workspace's `.mcp.json`. Those \
of a workspace are not started before you have said with `haft policy trust` or `haft mcp trust` that they may be.

Examples:
  haft mcp add time -- uvx mcp-server-time
  haft mcp list
  haft mcp tools time
  haft mcp call time get_current_time '{\"timezone\": \"UTC\"}'
  haft mcp accept time"
    )]
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Say what becomes of OpenAPI documents, list their operations and call them
    #[command(
        arg_required_else_help = true,
        after_help = "\
Documents that are tables `[openapi.NAME]` of `haft.toml`, yours or the workspace's, are tools of `haft tools`, `haft call`, `haft run` and `haft serve`, too.

Examples:
  haft openapi check openapi.yaml
  haft openapi list openapi.yaml
  haft openapi call openapi.yaml getPetById --input '{\"petId\": 7}'"
    )]
    Openapi {
        #[command(subcommand)]
        command: OpenApiCommand,
    },
    /// Serve the tools to MCP clients: agents, editors and other hosts
    #[command(after_help = "\
The tools are those of `haft tools`, with those of MCP servers. A policy decides about each call as it does for `haft call`; \
what is asked about is asked through the client, or answered with `haft approvals`. Without --http and --unix one client is \
served over standard input and output.

Away from the own machine a client has to prove who it is: --http with an address that others can reach needs --token-file or \
--oauth-issuer.

Examples:
  haft serve --print-config claude-code
  haft serve --workdir ~/project --profile workspace_write
  haft serve --tools search
  haft serve --http 127.0.0.1:8765 --token-file ~/.config/haft/tokens")]
    Serve(Box<ServeOptions>),
    /// Make calls with the tools, as an engine tells it to that keeps them for several machines
    #[command(after_help = "\
The engine is Restate, a server that is started by itself. Any number of workers make the calls that `haft serve --executor restate` \
sends there; the policy of the worker decides about each, and what is asked about waits in the engine for `haft approvals --restate`. \
All workers behind one address have the same tools, policy and options.

Without --identity-key it listens on this machine alone. Told to stop, it takes no more calls and lets those end that run; told \
again, it does not wait for them.

Examples:
  haft worker --admin http://127.0.0.1:9070
  haft worker --workdir ~/project --profile workspace_write --admin http://127.0.0.1:9070
  haft worker --listen 0.0.0.0:9080 --identity-key publickeyv1_… --admin http://engine:9070 --address http://workers:9080
  haft worker --pool browsers --tools 'browse_*' --json")]
    Worker(Box<WorkerOptions>),
    /// Go on with a run that waits, or list those that do
    #[command(after_help = "\
A run that waits for an approval is kept, with all that was done in it. It goes on with the answers that were given with \
`haft approvals`; what is not answered is asked about on a terminal. A call runs once at most, however often its run is \
gone on with.

To an agent whose run has ended more can be said with --prompt; it knows all that went before, and may spend as much again. Its \
run is kept for a month. The key of its model comes from the environment again.

A run that cannot end any more, as when its directory is gone, is dropped: its calls are given up, and nothing of it is run.

Examples:
  haft resume
  haft resume run-19c4 --wait
  haft resume run-19c4 --prompt 'Now write a test for it.'
  haft resume run-19c4 --drop")]
    Resume(ResumeOptions),
    /// List, show and answer the calls that wait for an approval
    #[command(
        subcommand,
        after_help = "\
An answer is kept until `haft resume RUN` goes on with the run. The beginning of an id will do, if no other begins so.

With --restate it is about the calls that wait in an engine, of all machines. There an answer counts at once, and once.

Examples:
  haft approvals list
  haft approvals show 3f2a
  haft approvals approve 3f2a --for workspace
  haft approvals deny 3f2a --reason 'use the staging database'
  haft approvals edit 3f2a --input '{\"command\": \"cargo test -p haft\"}'
  haft approvals list --restate http://127.0.0.1:8080"
    )]
    Approvals(ApprovalsCommand),
    /// List and revoke what was approved, or forbidden, for more than one call
    #[command(
        subcommand,
        after_help = "\
Examples:
  haft grants list
  haft grants revoke 3f2a 91c0
  haft grants revoke --all"
    )]
    Grants(GrantsCommand),
    /// Show who let which call run, what it touched and how it ended
    #[command(after_help = "\
Calls are recorded from the first that is kept because it waits for an approval, and for a month. A record holds neither \
arguments nor results.

Examples:
  haft journal
  haft journal --run run-19c4a7-1f3 --json")]
    Journal(JournalOptions),
    /// Undo what a run, a turn of it or a call has changed in files
    #[command(after_help = "\
Files are put back as they were, with their permissions; what was made is removed, and what was moved is moved back. All of \
it is done or nothing: if a file has changed since, nothing is undone, and each such file is named. What was undone is a change \
itself, and `haft undo` takes it back in turn.

Only what file tools change is recorded, for a month and within --undo-space of the command that changed it; what programs \
change that `bash` runs is not.

Examples:
  haft undo
  haft undo run-19c4 --dry-run
  haft undo run-19c4
  haft undo run-19c4 --turn 3
  haft undo run-19c4 --call call_7")]
    Undo(UndoOptions),
    /// Show what a run, a turn of it or a call has changed in files
    #[command(after_help = "\
It is a unified diff of the files as they were before and after, whatever was done in between and has changed since.

Examples:
  haft diff
  haft diff run-19c4
  haft diff run-19c4 --call call_7
  haft diff run-19c4 | git apply -R")]
    Diff(DiffOptions),
    /// Show a run as a page: its calls over time, their arguments, decisions, diffs and outputs
    #[command(after_help = "\
The page is one file that needs no network. It holds what is kept of the run and of those below it: of an agent's run, and of one \
that waited for an approval, all that its model was told; of others what `haft journal` has, without arguments and outputs. What is \
not kept is said. Look at a page before you give it away: it shows what files and commands gave.

A trace is for https://ui.perfetto.dev and for chrome://tracing.

Examples:
  haft report
  haft report run-19c4 --open
  haft report run-19c4 --output run.html
  haft report run-19c4 --call call_7
  haft report run-19c4 --json | jq '.totals'
  haft report run-19c4 --trace --output trace.json")]
    Report(ReportOptions),
    /// Print a script by which a shell completes this command
    #[command(after_help = "\
Examples:
  haft completions bash > ~/.local/share/bash-completion/completions/haft
  haft completions zsh > ~/.zfunc/_haft
  haft completions fish > ~/.config/fish/completions/haft.fish")]
    Completions(CompletionsOptions),
    /// Print a page of the manual, or write all of them
    #[command(after_help = "\
Examples:
  haft man | man -l -
  haft man mcp add | man -l -
  haft man --dir ~/.local/share/man/man1")]
    Man(ManOptions),
    /// Print the schema of what a command prints with `--json`
    #[command(after_help = "\
Examples:
  haft schema
  haft schema approvals list
  haft schema agent --chat")]
    Schema(SchemaOptions),
}

#[derive(Debug, Args)]
pub(crate) struct JournalOptions {
    /// Only those of this run
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// As many records, the newest
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) last: u32,
    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    /// The run, or the beginning of its id
    pub(crate) run: Option<String>,
    /// Wait until everything is answered with `haft approvals`
    #[arg(long)]
    pub(crate) wait: bool,
    /// Give the run up, with the calls that wait in it
    #[arg(long, requires = "run", conflicts_with = "wait")]
    pub(crate) drop: bool,
    /// Say more to an agent whose run has ended; `-` for standard input
    #[arg(long, value_name = "TEXT|-", requires = "run")]
    pub(crate) prompt: Option<String>,
    /// List the runs of agents that have ended, too
    #[arg(long, conflicts_with = "run")]
    pub(crate) ended: bool,
    /// Send this header, where a model is asked with one whose value was not kept
    #[arg(long, value_name = "NAME: VALUE", requires = "run")]
    pub(crate) header: Vec<String>,
    /// Print events and a summary, or the list, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// List them
    #[command(after_help = "Examples:\n  haft grants list\n  haft grants list --json | jq '.[].rule'")]
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take them back
    #[command(after_help = "Examples:\n  haft grants revoke 3f2a 91c0\n  haft grants revoke --all")]
    Revoke {
        /// The grants, or the beginnings of their ids
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
        /// Take all back
        #[arg(long)]
        all: bool,
        /// Print what was taken back as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Says for how long an answer is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Term {
    /// Until the run ends
    Run,
    /// As long as the session: of a command, its run
    Session,
    /// In this directory
    Workspace,
    /// Everywhere
    Always,
}

impl From<Term> for GrantTerm {
    fn from(term: Term) -> Self {
        match term {
            Term::Run => Self::Run,
            Term::Session => Self::Session,
            Term::Workspace => Self::Workspace,
            Term::Always => Self::Always,
        }
    }
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct ToolsOptions {
    /// Print the specifications as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the tools of MCP servers
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Leave out the tools of OpenAPI documents
    #[arg(long)]
    pub(crate) no_openapi: bool,
    /// Ask MCP servers for their tools, also those that have listed them in the last 24 hours
    #[arg(long)]
    pub(crate) refresh: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// The tool
    pub(crate) name: String,
    /// The arguments: JSON, `-` for standard input, or `@FILE`; none by default
    #[arg(value_name = "JSON|-|@FILE", default_value = "{}", hide_default_value = true)]
    pub(crate) input: String,
    /// The directory the tools work in; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Another directory the tools work in, to be read only with `:ro`; its files have absolute paths
    #[arg(long = "root", value_name = "DIR[:ro]")]
    pub(crate) roots: Vec<OtherRoot>,
    /// Approve without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Wait until everything is answered with `haft approvals`, and ask nobody here
    #[arg(long)]
    pub(crate) wait: bool,
    /// Print the reply as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the tools of MCP servers
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Leave out the tools of OpenAPI documents
    #[arg(long)]
    pub(crate) no_openapi: bool,
    #[command(flatten)]
    pub(crate) quota: ChangeQuota,
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
    /// Another directory the tools work in, to be read only with `:ro`; its files have absolute paths
    #[arg(long = "root", value_name = "DIR[:ro]", requires = "workdir")]
    pub(crate) roots: Vec<OtherRoot>,
    /// Approve without asking
    #[arg(long, conflicts_with = "ask")]
    pub(crate) yes: bool,
    /// Ask on a scratch copy, too
    #[arg(long)]
    pub(crate) ask: bool,
    /// Wait until everything is answered with `haft approvals`, and ask nobody here
    #[arg(long)]
    pub(crate) wait: bool,
    /// Keep the scratch copy and say where it is
    #[arg(long, conflicts_with = "workdir")]
    pub(crate) keep: bool,
    /// Print events and a summary as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the tools of MCP servers
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Leave out the tools of OpenAPI documents
    #[arg(long)]
    pub(crate) no_openapi: bool,
    #[command(flatten)]
    pub(crate) quota: ChangeQuota,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}
