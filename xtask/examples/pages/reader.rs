//! Who reads what a source says, where that does not follow from how it is said.

/// What a model reads.
pub(crate) const MODEL: &str = "model";
/// What a host reads of a library.
pub(crate) const HOST: &str = "host";
/// What a person reads of the command, of a policy or of a page.
pub(crate) const PERSON: &str = "person";
/// What stands in the log of a program.
pub(crate) const LOG: &str = "log";

/// Beginnings of paths below `crates/` with who reads what is put together there; the first that fits counts.
const PLACES: &[(&str, &str)] = &[
    ("haft-agent/src/compaction.rs", HOST),
    ("haft-agent/src/state/outcomes.rs", HOST),
    ("haft-agent/src/state/stored.rs", HOST),
    ("haft-agent/src/state/telling.rs", HOST),
    ("haft-agent/src/agent/", HOST),
    ("haft-agent/", MODEL),
    ("haft-cli/src/agent/settings.rs", MODEL),
    ("haft-cli/src/cluster/denial.rs", MODEL),
    ("haft-cli/src/cluster/serving.rs", MODEL),
    ("haft-cli/src/serve/instructions.rs", MODEL),
    ("haft-cli/", PERSON),
    ("haft-durable/src/call_request.rs", HOST),
    ("haft-durable/", MODEL),
    ("haft-durable-restate/src/executor.rs", MODEL),
    ("haft-durable-restate/src/runs/", MODEL),
    ("haft-durable-restate/src/updates.rs", MODEL),
    ("haft-hooks/src/model_text.rs", MODEL),
    ("haft-macros/src/expand.rs", PERSON),
    ("haft-mcp/src/client/answer/", PERSON),
    ("haft-mcp/src/client/auth/", PERSON),
    ("haft-mcp/src/client/config", PERSON),
    ("haft-mcp/src/client/trust/", PERSON),
    ("haft-mcp/src/client/call", MODEL),
    ("haft-mcp/src/client/content.rs", MODEL),
    ("haft-mcp/src/client/convert", MODEL),
    ("haft-mcp/src/client/host/", MODEL),
    ("haft-mcp/src/client/listing", PERSON),
    ("haft-mcp/src/client/named_tool.rs", MODEL),
    ("haft-mcp/src/client/rmcp_session/oauth", PERSON),
    ("haft-mcp/src/server/calls/approval_form.rs", PERSON),
    ("haft-mcp/src/server/calls", MODEL),
    ("haft-mcp/src/server/catalog/", MODEL),
    ("haft-mcp/src/server/content/", MODEL),
    ("haft-openapi/src/auth/scheme.rs", HOST),
    ("haft-openapi/src/document/", HOST),
    ("haft-openapi/src/list.rs", HOST),
    ("haft-openapi/src/lower", HOST),
    ("haft-openapi/src/problem.rs", HOST),
    ("haft-openapi/src/read", HOST),
    ("haft-openapi/", MODEL),
    ("haft-policy/", PERSON),
    ("haft-providers/src/kept.rs", MODEL),
    ("haft-subagents/src/markdown/", PERSON),
    ("haft-subagents/src/isolation/worktrees/snapshot.rs", MODEL),
    ("haft-subagents/src/isolation/worktrees/", HOST),
    ("haft-subagents/", MODEL),
    ("haft-testkit/src/cases", PERSON),
    ("haft-tool-fs/src/path_patterns", PERSON),
    ("haft-tool-shell/src/catalog", HOST),
    ("haft-tool-shell/src/command_patterns", PERSON),
    ("haft-tools-core/src/journal", HOST),
    ("haft-tools-core/src/permission/language.rs", PERSON),
    ("haft-tools-core/src/permission/pending.rs", HOST),
    ("haft-tools-core/src/registry", HOST),
    ("haft-tools-core/", MODEL),
];

/// Says who reads what is put together in a file.
pub(crate) fn of(path: &str) -> &'static str {
    let below = path.split_once("crates/").map_or(path, |(_, below)| below);
    let place = PLACES.iter().find(|(place, _)| below.starts_with(place));
    match place {
        Some((_, reader)) => reader,
        None if below.starts_with("haft-tool-") => MODEL,
        None => HOST,
    }
}

#[cfg(test)]
mod tests {
    use super::{HOST, MODEL, PERSON, of};

    #[test]
    fn a_file_has_the_reader_of_where_it_stands() {
        assert_eq!(of("crates/haft-cli/src/cluster/denial.rs"), MODEL);
        assert_eq!(of("crates/haft-cli/src/chat.rs"), PERSON);
        assert_eq!(of("crates/haft-tool-web/src/lib.rs"), MODEL);
        assert_eq!(of("crates/haft-http/src/client.rs"), HOST);
    }
}
