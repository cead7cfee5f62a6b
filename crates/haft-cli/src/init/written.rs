use super::project::Project;

/// What a person's own file begins as.
pub(crate) const FOR_USER: &str = r#"# Your own configuration of haft: it holds in all directories, ahead of what their files say.
# `haft config show` shows what is set, and where; `haft config check` finds what is wrong.

# What rules build on: read_only, workspace_write or full_access.
# profile = "read_only"

[permissions]
# What no file of a workspace can allow, whatever it says.
deny = [
    "read(~/.ssh/**)",
    "read(~/.aws/**)",
    "read(~/.gnupg/**)",
]

# Commands of `bash` within the bounds of the kernel: require, prefer or off.
# [sandbox]
# mode = "prefer"

# The model of `haft agent`; its key comes from the environment.
# [agent]
# model = "anthropic/claude-sonnet-4-5"
# max_time = "30m"

# A server of the Model Context Protocol; `haft mcp add` writes one.
# [mcp.servers.time]
# command = "uvx"
# args = ["mcp-server-time"]
"#;

/// Writes the file of a project.
pub(super) fn for_project(project: &Project) -> String {
    let commands = project.parts.iter().flat_map(|part| &part.commands);
    let allowed: Vec<String> = commands.map(|command| format!("    \"exec({command})\",\n")).collect();
    let allow = if allowed.is_empty() {
        String::new()
    } else {
        format!(
            "# These run the project's own code, which agents write: leave out what you want to be asked about.\n\
             allow = [\n{}]\n",
            allowed.concat()
        )
    };
    let of_git = if project.is_git { "    \"exec(git push --force *)\",\n" } else { "" };
    let command = project.commands().next();
    let test = command
        .map(|command| format!("\n[[test]]\naccess = \"exec({command})\"\nexpect = \"allow\"\n"))
        .unwrap_or_default();
    format!("{HEAD}{allow}{DENY}{of_git}{REST}{test}")
}

const HEAD: &str = r#"# What agents may do here. `haft config show` shows what is set, and `haft config check` finds what is wrong;
# `haft policy explain 'COMMAND'` says what is decided about a command, and why.

# Files of this directory are read and written, and commands run that only look; all else is asked about.
profile = "workspace_write"

[permissions]
"#;

const DENY: &str = r#"# A denial holds whatever else is said, by whomever.
deny = [
    "read(**/.env)",
    "read(**/.env.local)",
    "read(**/*.pem)",
"#;

const REST: &str = r#"]

# Commands of `bash` within the bounds of the kernel: require, prefer or off.
# [sandbox]
# mode = "prefer"

# How long a call may take, and how much it may say.
# [limits]
# timeout = "2min"
# output_bytes = "32 KiB"

# Tools that are left out.
# [tools]
# select = "!web_fetch"

# Other directories, to be read only with `:ro`.
# [workdir]
# roots = ["../docs:ro"]

# Servers of the Model Context Protocol, and APIs.
# [mcp.servers.time]
# command = "uvx"
# args = ["mcp-server-time"]

# [openapi.petstore]
# document = "openapi.yaml"

# What must be decided as it is now: the file is refused where it is not.
[[test]]
access = "read(config/.env)"
expect = "deny"
"#;
