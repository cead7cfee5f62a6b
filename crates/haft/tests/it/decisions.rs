//! Checks the tables of `docs/reference/permissions.md`, each cell of which is a decision, against the real tools.

mod page;

use haft::core::{Decision, Origin, Schema, ToolHints, ToolSpec};
use haft::fs::protected_places;
use haft::policy::{LoadedPolicy, PolicyLoader, Profile, Trust};
use haft::shell::Environment;
use haft::tools_core::{Explanation, Mode};
use haft::{
    Access, Accesses, CallContext, CallScope, Policy, Resource, Scheme, ToolError, ToolRegistry, Workdir,
    tool_fn,
};
use haft_testkit::Tree;
use page::{Page, Section, code};
use serde_json::{Value, json};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/permissions.md");

/// With `UPDATE_EXPECT` set the cells are written anew.
#[test]
fn the_page_says_what_is_decided() {
    let text = std::fs::read_to_string(PAGE).unwrap();
    let world = World::new();
    let protected: Vec<String> = protected_places()
        .iter()
        .map(|place| {
            let below = if place.covers_tree() { " and below" } else { "" };
            format!("| `{}`{below} | {} |", place.pattern(), place.reason())
        })
        .collect();
    let fresh = Page::parse(&text)
        .filled(&protected, |section, column, subject| world.cell(section, column, subject));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(PAGE, fresh).unwrap();
        return;
    }
    for (number, (written, decided)) in text.lines().zip(fresh.lines()).enumerate() {
        assert_eq!(
            written,
            decided,
            "docs/reference/permissions.md:{} says something else than is decided; if that is right, write it anew with \
             UPDATE_EXPECT=1",
            number + 1
        );
    }
    assert_eq!(text.lines().count(), fresh.lines().count());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Anything {}

/// The directory and the tools that the page tells of.
struct World {
    tree: Tree,
    workdir: Workdir,
    tools: ToolRegistry,
}

impl World {
    fn new() -> Self {
        let tree = Tree::new()
            .file("src/lib.rs", "")
            .file("secrets/key", "")
            .file("notes.md", "")
            .directory(".git/hooks")
            .link("src/passwords", "../secrets/key")
            .link("hosts", "/etc/hosts");
        let workdir = tree.workdir();
        let environment = Environment::minimal().with("HOME", "/home/ann").unwrap();
        let tools = haft::DefaultTools::new(&workdir).environment(environment).registry().unwrap();
        let done = |_: Anything, _: CallContext| async { Ok::<_, ToolError>("done") };
        let says = |hints: ToolHints| move |spec: ToolSpec| spec.with_hints(hints);
        let read_only = ToolHints { read_only: true, ..ToolHints::default() };
        let origin = Origin::Mcp { server: "github".into(), tool: "list_issues".into() };
        let listed = Resource::exact(Scheme::new("mcp"), "github/list_issues");
        let github =
            tool_fn("github__list_issues", "Lists.", Accesses::from(Access::call(listed)), done).unwrap();
        let github = github.map_spec(says(read_only)).map_spec(|spec| spec.with_origin(origin));
        let silent = tool_fn("silent", "Declares nothing.", Accesses::none(), done).unwrap();
        let opaque = Accesses::from(Access::opaque("a script of its own"));
        let opaque = tool_fn("plugin", "Cannot tell.", opaque, done).unwrap().map_spec(says(read_only));
        let broken = |_: &Anything| -> Result<Accesses, ToolError> {
            Err(ToolError::failed("it is out of order; use another tool"))
        };
        let broken = tool_fn("broken", "Cannot prepare.", broken, done).unwrap();
        let tools =
            tools.with(github).unwrap().with(silent).unwrap().with(opaque).unwrap().with(broken).unwrap();
        Self { tree, workdir, tools }
    }

    /// Says what is decided about what a row names, by what its column names.
    fn cell(&self, section: &Section, column: &str, subject: &str) -> String {
        let mut loaded = self.load(section, column);
        if let Some(mode) = mode(column) {
            loaded.mode = mode;
        }
        let scope = scope(column);
        let cell = match self.declared(&loaded.policy, subject, &scope) {
            Ok((tool, accesses)) => {
                let verdicts = loaded.policy.explain_in(&scope, loaded.mode, &tool, &accesses);
                let language = loaded.policy.rule_language();
                shown(&verdicts.iter().map(|verdict| verdict.explain(language)).collect::<Vec<_>>())
            }
            Err(error) => format!("refused: {}", error.lines().next().unwrap_or_default()),
        };
        let root = self.workdir.root_path().to_str().unwrap();
        assert!(!cell.contains(root), "{subject} is decided by where the working directory lies: {cell}");
        cell
    }

    /// Loads the policy of a section as it is in a column.
    fn load(&self, section: &Section, column: &str) -> LoadedPolicy {
        let language = haft::DefaultRules::new(&self.workdir).home("/home/ann").language();
        let mut loader = PolicyLoader::new(language).without_default_profile().tools(&self.tools);
        let files = Tree::new();
        if let Ok(profile) = column.parse::<Profile>() {
            return loader.profile(profile).load().unwrap();
        }
        for (layer, text) in &section.policies {
            std::fs::write(files.path().join(layer), text).unwrap();
            let path = files.path().join(layer);
            loader = match &**layer {
                "user" => loader.user(path),
                "workspace" if column == "trusted" => loader.workspace(path, Trust::Trusted),
                "workspace" => loader.workspace(path, Trust::Untrusted),
                _ => loader.command_line(path),
            };
        }
        loader
            .load()
            .unwrap_or_else(|error| panic!("docs/reference/permissions.md, {}:\n{error}", section.title))
    }

    /// Reads a row's subject: a command, a call or an access.
    fn declared(
        &self,
        policy: &Policy,
        subject: &str,
        scope: &CallScope,
    ) -> Result<(ToolSpec, Accesses), String> {
        let call = match subject.strip_prefix("$ ") {
            Some(command) => Some(("bash".to_owned(), json!({ "command": command }))),
            None => subject.split_once(" {").map(|(tool, input)| {
                let input: Value = serde_json::from_str(&format!("{{{input}")).unwrap();
                (tool.to_owned(), input)
            }),
        };
        let Some((tool, input)) = call else {
            let access = policy.rule_language().access(subject);
            let access = access.unwrap_or_else(|error| panic!("`{subject}` is not an access: {error}"));
            let tool = ToolSpec::new("example".parse().unwrap(), "Makes an access.", Schema::empty());
            return Ok((tool, Accesses::from(access)));
        };
        let declared = self.tools.declare(&tool, input, scope).map_err(|error| error.to_string())?;
        assert!(self.tree.path().exists());
        Ok((declared.tool.clone(), declared.accesses))
    }
}

fn mode(column: &str) -> Option<Mode> {
    column.parse().ok()
}

/// Makes the scope of the agents that a column names: `by lead, explorer` is an agent that `lead` started.
fn scope(column: &str) -> CallScope {
    let run = |depth: usize| format!("run-{depth}").parse().unwrap();
    let agents = column.strip_prefix("by ").map(|agents| agents.split(", ")).into_iter().flatten();
    agents.enumerate().fold(CallScope::new(run(0)), |scope, (depth, agent)| {
        let scope = if depth == 0 { scope } else { scope.child(run(depth)) };
        scope.with_agent(agent)
    })
}

/// Writes a decision with what decided it: all rules where it is allowed, and otherwise the first that is strictest.
fn shown(explained: &[Explanation]) -> String {
    let strictest = explained.iter().map(|one| one.decision).max().unwrap_or(Decision::Ask);
    if strictest == Decision::Allow {
        let mut rules: Vec<String> = Vec::new();
        for one in explained {
            let rule = one.rule.as_deref().map_or_else(|| one.reason.clone(), code);
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        return format!("allow: {}", rules.join(", "));
    }
    let Some(one) = explained.iter().find(|one| one.decision == strictest) else {
        return strictest.to_string();
    };
    let access = one.access.as_deref().map_or_else(|| "the call".to_owned(), code);
    let why = match &one.rule {
        Some(rule) if one.reason.starts_with("by the rule") => format!("by {}", code(rule)),
        _ => one.reason.split("; ").next().unwrap_or_default().replace("no rule speaks of it", "no rule"),
    };
    format!("{strictest}: {access}, {why}")
}
