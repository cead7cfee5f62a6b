use haft_core::ToolErrorKind;
use haft_testkit::Tree;
use haft_tool_shell::{Bash, CommandCatalog, CommandPatterns, EXEC, Environment};
use haft_tools_core::{Access, AccessMode, PatternSet, PatternSyntax as _, Resource, Scheme, Tool as _};
use serde_json::json;

use crate::harness::scope;

/// What rules say to a script: the strictest of what they say to each access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decision {
    Allow,
    Ask,
    Deny,
}

/// Rules about commands; everything below the working directory may be read.
pub(crate) struct Rules {
    bash: Bash,
    allow: Box<dyn PatternSet>,
    deny: Box<dyn PatternSet>,
}

impl Rules {
    pub(crate) fn new(tree: &Tree, environment: Environment, allow: &[&str], deny: &[&str]) -> Self {
        let compile = |patterns: &[&str]| {
            let patterns: Vec<Box<str>> = patterns.iter().map(|pattern| Box::from(*pattern)).collect();
            CommandPatterns::new().compile(&patterns).expect("they are patterns")
        };
        Self { bash: Bash::new(tree.workdir(), environment), allow: compile(allow), deny: compile(deny) }
    }

    /// Goes by what a text says of more commands.
    pub(crate) fn knowing(tree: &Tree, toml: &str, allow: &[&str]) -> Self {
        let catalog = CommandCatalog::built_in().extended(toml).expect("it is a catalog");
        let patterns: Vec<Box<str>> = allow.iter().map(|pattern| Box::from(*pattern)).collect();
        let syntax = CommandPatterns::new().catalog(catalog.clone());
        let rules = Self::new(tree, Environment::minimal(), &[], &[]);
        let allow = syntax.compile(&patterns).expect("they are patterns");
        Self { bash: rules.bash.catalog(catalog), allow, ..rules }
    }

    pub(crate) fn accesses(&self, script: &str) -> Vec<Access> {
        match self.bash.prepare(&json!({ "command": script }), &scope()) {
            Ok(prepared) => prepared.accesses().iter().cloned().collect(),
            Err(error) => {
                assert_eq!(error.kind(), ToolErrorKind::InvalidInput, "{script:?}: {error}");
                vec![Access::opaque("refused")]
            }
        }
    }

    pub(crate) fn decide(&self, script: &str) -> Decision {
        self.accesses(script).iter().map(|access| self.decide_access(access)).max().unwrap_or(Decision::Ask)
    }

    pub(crate) fn decide_access(&self, access: &Access) -> Decision {
        let (Some(mode), Some(resource)) = (access.mode(), access.resource()) else { return Decision::Ask };
        match mode {
            AccessMode::Execute => {
                assert_eq!(*resource.scheme(), EXEC);
                if self.deny.first_touching(resource).is_some() {
                    Decision::Deny
                } else if self.allow.first_containing(resource).is_some() {
                    Decision::Allow
                } else {
                    Decision::Ask
                }
            }
            AccessMode::Read if Resource::subtree(Scheme::new("file"), "").contains(resource) => {
                Decision::Allow
            }
            _ => Decision::Ask,
        }
    }
}
