use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the files in force: all that they say, and that their tests pass
    #[command(after_help = "\
Everything that is wrong is told at once, with the line. The exit code is 1 if anything is.

Examples:
  haft config check
  haft config check --workdir ~/project")]
    Check(ConfigOptions),
    /// Show what is set, and where
    #[command(after_help = "\
Each setting has the file and the line that it comes from, and what has no effect says why. Secrets are not shown.

Examples:
  haft config show
  haft config show --json | jq '.settings[] | select(.key == \"profile\")'")]
    Show(ConfigOptions),
    /// Print the JSON Schema of `haft.toml`, for editors
    #[command(after_help = "\
Editors with Taplo or Even Better TOML check and complete a file whose first line names the schema, as
`haft init --schema PLACE` writes it.

Examples:
  haft config schema > ~/.config/haft/haft.schema.json")]
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigOptions {
    /// The directory the tools work in; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
