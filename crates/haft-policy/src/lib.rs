//! Policy files: what agents may do, written down by people.
//!
//! A [`PolicyFile`] is what one person wrote. A [`PolicyLoader`] puts those of several people into layers, the user's and the
//! workspace's, and gives a [`LoadedPolicy`], which is handed to an executor. [`Profile`]s are policies that come with haft. What a
//! rule is, is said by [`RuleLanguage`](haft_tools_core::RuleLanguage) and by the crates of files and commands, whose patterns
//! it is given. Hosts are known by `haft-http`, which knows no rule: [`HostPatterns`] joins the two.
//!
//! ```
//! use haft_policy::PolicyLoader;
//! use haft_tools_core::{LocalExecutor, RuleLanguage, ToolRegistry};
//!
//! # let directory = tempfile::tempdir()?;
//! let file = directory.path().join("haft.toml");
//! std::fs::write(&file, "[permissions]\nallow = [\"read_file\"]\n")?;
//! let loaded = PolicyLoader::new(RuleLanguage::new()).user(&file).load()?;
//! let executor = loaded.apply(LocalExecutor::builder(ToolRegistry::new())).build();
//! # drop(executor);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A policy file is TOML. It has rules for all agents and for some, limits, and tests of its own:
//!
//! ```toml
//! include = ["shared.toml"]            # relative to this file; its rules are part of this layer
//! profile = "workspace_write"          # what the rules build on: read_only, workspace_write or full_access
//!
//! [permissions]
//! mode = "default"                     # plan, deny_unknown, default, accept_edits or auto
//! allow = ["read(**)", "exec(cargo test *)"]
//! ask = ["write(Cargo.lock)"]
//! deny = ["write(**/.env)", "connect(*.example.org)"]
//!
//! [agents.explorer.permissions]        # takes away from what holds for all, for one agent
//! allow = ["read(src/**)"]
//!
//! [agents.lead.ceiling]                # bounds what the agents may do that this one starts
//! deny = ["connect(*)"]
//!
//! [limits]                             # as in `haft_tools_core::Limits`
//! timeout = "2min"                     # a number is of seconds
//! output_bytes = "64 KiB"
//!
//! [limits.tools."@github"]             # for the tools of a selector; the first that concerns a tool counts
//! timeout = "30s"
//!
//! [sandbox]
//! mode = "off"                         # off, prefer or require
//!
//! [[test]]
//! access = "write(config/.env)"        # what is decided: an access,
//! expect = "deny"
//!
//! [[test]]
//! command = "git status && rm -r src"  # a call of `bash`,
//! expect = "ask"
//!
//! [[test]]
//! tool = "edit_file"                   # or a call of any tool
//! input = { path = "src/lib.rs", old = "a", new = "b" }
//! agent = ["lead", "explorer"]         # by the agent `explorer`, which `lead` started
//! mode = "plan"
//! expect = "deny"
//! ```
//!
//! # Tests
//!
//! The tests of a file are run when it is loaded, against the file itself with what it includes and the profile that it
//! names, and not against other layers: a file is right or wrong by itself. A test that fails refuses the file. An
//! access is decided as that of a tool `policy-test` of the host program. A test of a call needs the tools; where they are missing, or the
//! tool cannot prepare the call in this workspace, the test is not run, and a [`Note`] says so.

mod assembly;
mod file_limits;
mod file_tree;
mod host_patterns;
mod instead;
mod loaded_policy;
mod policy_file;
mod policy_loader;
mod policy_source;
mod policy_switches;
mod problem;
mod profile;
mod quantity;
mod reader;
mod rule_lists;
mod sandbox_mode;
mod schema;
mod source_text;
mod test_case;
mod test_report;
mod testing;

pub use file_limits::FileLimits;
pub use host_patterns::HostPatterns;
pub use loaded_policy::{LoadedPolicy, Note};
pub use policy_file::PolicyFile;
pub use policy_loader::{PolicyLoader, Trust};
pub use policy_source::{LocalPolicySource, PolicySource};
pub use policy_switches::PolicySwitches;
pub use problem::{PolicyFileError, PolicyProblem};
pub use profile::{Profile, ProfileError};
pub use sandbox_mode::{SandboxMode, SandboxModeError};
pub use source_text::Place;
pub use test_report::{TestOutcome, TestReport, TestResult};
