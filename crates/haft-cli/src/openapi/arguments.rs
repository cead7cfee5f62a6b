use crate::policy_setup::PolicyOptions;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum OpenApiCommand {
    /// Say what would become tools, what would not and why, and how many tokens they cost
    #[command(after_help = "\
What is wrong with one operation costs the others nothing: it is left out, and said with its place in the document. The exit \
code is 1 if nothing at all can be used, and with --strict if anything is left out.

Examples:
  haft openapi check openapi.yaml
  haft openapi check https://petstore3.swagger.io/api/v3/openapi.json --json
  haft openapi check petstore --strict")]
    Check(CheckOptions),
    /// List the operations of a document, or the documents of your configuration
    #[command(after_help = "\
Examples:
  haft openapi list
  haft openapi list openapi.yaml --tag pets --method get
  haft openapi list petstore --json | jq '.[].name'")]
    List(ListOptions),
    /// Call an operation
    #[command(after_help = "\
A policy decides as it does for `haft call`; what is asked about is asked on a terminal. An operation is named by its id, by the \
name of its tool, or by its method and path. Credentials are those of a document in your configuration; no other has any.

Examples:
  haft openapi call petstore getPetById --input '{\"petId\": 7}'
  haft openapi call openapi.yaml 'GET /pets/{id}' --input '{\"id\": 7}' --server http://127.0.0.1:8080
  haft openapi call petstore addPet --input @pet.json --yes")]
    Call(CallOptions),
}

/// Says which document is meant, and which of its operations.
#[derive(Debug, Args)]
pub(crate) struct DocumentOptions {
    /// A file, an address, or the name of a document in your configuration
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    #[command(flatten)]
    pub(crate) chosen: ChosenOptions,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Document")]
pub(crate) struct ChosenOptions {
    /// The server that all operations are on, whatever the document says
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Only operations with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Only operations of this method
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Vec<String>,
    /// Only operations whose path fits, as in `/pets/**`
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Vec<String>,
    /// Leave out what is deprecated
    #[arg(long)]
    pub(crate) no_deprecated: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) document: DocumentOptions,
    /// Fail if anything is left out
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// A file, an address, or the name of a document in your configuration; all documents there by default
    #[arg(value_name = "DOC")]
    pub(crate) document: Option<String>,
    #[command(flatten)]
    pub(crate) chosen: ChosenOptions,
    /// Print the specifications of the tools, or the documents, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// A file, an address, or the name of a document in your configuration
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    /// The operation: its id, the name of its tool, or its method and path
    pub(crate) operation: String,
    /// The arguments: a JSON object, `@FILE`, or `-` for standard input
    #[arg(long, default_value = "{}", value_name = "JSON|-|@FILE")]
    pub(crate) input: String,
    /// The server that the operation is on, whatever the document says
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Approve what the policy asks about
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The workspace; the current directory by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}
