//! The programs of the workspace, built together and with the features that the tests have.
//!
//! A package that is built by itself has other features of what it depends on, and with them nearly all of that is compiled once
//! more; built so, each step but the first finds everything done.

use anyhow::Context as _;
use serde_json::Value;

use crate::together;
use crate::workspace::Workspace;

/// Says where the programs are.
#[derive(Debug)]
pub(crate) struct Built(Vec<Program>);

/// The programs that are run without being built: what they are, and where.
const BEFORE: [(&str, &str, &str); 3] = [
    ("bin", "haft", "haft"),
    ("bin", "openapi-petstore", "openapi-petstore"),
    ("example", "pages", "examples/pages"),
];

#[derive(Debug, PartialEq, Eq)]
struct Program {
    kind: String,
    name: String,
    path: String,
}

impl Built {
    /// Builds the commands and the examples of all packages.
    pub(crate) fn all(workspace: &Workspace) -> anyhow::Result<Self> {
        let features = together::features(workspace)?;
        let arguments = [
            "build",
            "--quiet",
            "--locked",
            "--workspace",
            "--features",
            &features,
            "--bins",
            "--examples",
            "--message-format=json-render-diagnostics",
        ];
        Ok(Self(programs(&workspace.capture("cargo", &arguments)?)))
    }

    /// Takes the programs that were built before, as they are.
    pub(crate) fn before(workspace: &Workspace) -> Self {
        let folder = workspace.root().join("target/debug");
        let program = |(kind, name, place): (&str, &str, &str)| {
            let path = folder.join(place);
            let path = path.is_file().then(|| path.display().to_string())?;
            Some(Program { kind: kind.to_owned(), name: name.to_owned(), path })
        };
        Self(BEFORE.into_iter().filter_map(program).collect())
    }

    /// The path of a command.
    pub(crate) fn command(&self, name: &str) -> anyhow::Result<&str> {
        self.find("bin", name)
    }

    /// The path of an example.
    pub(crate) fn example(&self, name: &str) -> anyhow::Result<&str> {
        self.find("example", name)
    }

    fn find(&self, kind: &str, name: &str) -> anyhow::Result<&str> {
        let found = self.0.iter().find(|program| program.kind == kind && program.name == name);
        Ok(&found.with_context(|| format!("the workspace has no {kind} `{name}`"))?.path)
    }
}

/// Reads what cargo says of what it has built.
fn programs(output: &[u8]) -> Vec<Program> {
    let messages =
        output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let program = |message: Value| {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let target = &message["target"];
        let (kind, name) = (text(&target["kind"][0])?, text(&target["name"])?);
        Some(Program { kind, name, path: text(&message["executable"])? })
    };
    messages.filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::{Built, programs};

    #[test]
    fn programs_are_found_by_what_they_are() {
        let said =
            br#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"one"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"one"},"executable":"/a/one"}
{"reason":"compiler-artifact","target":{"kind":["example"],"name":"one"},"executable":"/a/examples/one"}
{"reason":"build-finished","success":true}
"#;
        let built = Built(programs(said));
        assert_eq!(built.command("one").unwrap(), "/a/one");
        assert_eq!(built.example("one").unwrap(), "/a/examples/one");
        assert_eq!(built.command("two").unwrap_err().to_string(), "the workspace has no bin `two`");
    }
}
