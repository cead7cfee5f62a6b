//! Scripts: what they would do is told the same each time and within bounds, each command is split as it was joined, and no
//! script is let run inside another that would not be let run itself.
#![no_main]

use std::sync::LazyLock;

use haft::core::Decision;
use haft::shell::{Bash, CommandPatterns, Environment};
use haft::tools_core::{PatternSet, PatternSyntax as _, RuleLanguage};
use haft::{AccessMode, Accesses, CallScope, Policy, Tool as _, Workdir};
use haft_testkit::Tree;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

struct Place {
    _tree: Tree,
    bash: Bash,
    scope: CallScope,
    policy: Policy,
    sets: Vec<Box<dyn PatternSet>>,
}

/// What the policy allows: commands, and to look at anything below the working directory.
const ALLOWED: [&str; 8] = ["cat *", "cd *", "echo *", "git log *", "git status", "grep *", "ls *", "true"];

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let tree =
        Tree::new().file("src/main.rs", "fn main() {}\n").file("notes.txt", "notes\n").link("out", "/etc");
    let workdir = Workdir::open(tree.path()).expect("the tree is there");
    let language: RuleLanguage = haft::DefaultRules::new(&workdir).language();
    let rule = |text: &str| language.rule(text).unwrap_or_else(|error| panic!("`{text}` is a rule: {error}"));
    let policy = ALLOWED.iter().fold(Policy::new().language(language.clone()), |policy, command| {
        policy.allow(rule(&format!("exec({command})")))
    });
    let compile = |pattern: &str| CommandPatterns::new().compile(&[pattern.into()]).expect("a pattern");
    Place {
        bash: Bash::new(workdir, Environment::minimal()),
        scope: CallScope::new("fuzz".parse().expect("an id")),
        policy: policy.allow(rule("read(**)")),
        sets: ["*", "git *", "rm -rf *", "ls"].map(compile).into(),
        _tree: tree,
    }
});

impl Place {
    fn accesses(&self, script: &str) -> Option<Accesses> {
        let prepared = self.bash.prepare(&json!({ "command": script }), &self.scope).ok()?;
        Some(prepared.accesses().clone())
    }

    /// A script that cannot be prepared does not run.
    fn allows(&self, script: &str) -> bool {
        self.accesses(script).is_some_and(|accesses| {
            self.policy.decide(self.bash.spec(), &accesses).decision() == Decision::Allow
        })
    }
}

fuzz_target!(|script: &str| {
    let place = &*PLACE;
    let Some(accesses) = place.accesses(script) else { return };
    assert_eq!(place.accesses(script).as_ref(), Some(&accesses), "it is told the same each time");
    assert!(accesses.len() <= 260, "{} accesses", accesses.len());
    let syntax = CommandPatterns::new();
    let is_opaque = accesses.iter().any(|access| access.mode().is_none());
    for access in &accesses {
        let (Some(AccessMode::Execute), Some(command)) = (access.mode(), access.resource()) else { continue };
        // A script that is not understood stands for itself, and is opaque besides.
        if !(is_opaque && command.path() == script) {
            let again = syntax
                .resource(command.path())
                .unwrap_or_else(|error| panic!("{command} is a command: {error}"));
            assert_eq!(&again, command, "a command is split as it was joined");
        }
        for set in &place.sets {
            if set.first_containing(command).is_some() {
                assert!(set.first_touching(command).is_some(), "{command} is contained and not touched");
            }
        }
        if let Some(suggested) = syntax.suggest(command) {
            let set = syntax.compile(&[suggested.as_str().into()]).expect("what is suggested is a pattern");
            assert_eq!(set.first_containing(command), Some(0), "`{suggested}` is suggested for {command}");
        }
    }
    if !place.allows(script) {
        // Whatever stands around a script, it is not let run by that.
        for within in [format!("(\n{script}\n)"), format!("{{\n{script}\n}}"), format!("true && {script}")] {
            // Around an end, such as that of a quotation or of a here-document, it is another script; and one that does
            // nothing has nothing that a rule could allow.
            if !accesses.is_empty()
                && place.accesses(&within).is_some_and(|inside| {
                    accesses.iter().all(|access| inside.iter().any(|one| one == access))
                })
            {
                assert!(!place.allows(&within), "`{within}` is allowed, and `{script}` is not");
            }
        }
        let quoted = script.replace('\'', r"'\''");
        assert!(!place.allows(&format!("bash -c '{quoted}'")), "`bash -c` allows `{script}`");
        assert!(!place.allows(&format!("eval '{quoted}'")), "`eval` allows `{script}`");
    }
});
