use haft_core::{Decision, Schema, ToolSpec};
use haft_policy::{HostPatterns, LoadedPolicy, PolicyFileError, PolicyLoader, PolicySource, Trust};
use haft_tools_core::{
    Access, AccessMode, Accesses, CallScope, PatternError, PatternSet, PatternSyntax, Resource, RuleLanguage,
    Scheme,
};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Reads patterns as the domains do, as far as these tests need it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fake {
    /// `**`, `a/**` and `a`.
    Files,
    /// `@reads`, `@understood` and commands, with `*` behind them for any arguments.
    Commands,
}

#[derive(Debug)]
struct FakeSet(Fake, Vec<Box<str>>);

const READS: [&str; 3] = ["cat", "git status", "ls"];
const UNDERSTOOD: [&str; 5] = ["cat", "git status", "ls", "cp", "mkdir"];

impl Fake {
    fn scheme(self) -> Scheme {
        match self {
            Self::Files => Scheme::new("file"),
            Self::Commands => Scheme::new("exec"),
        }
    }

    fn matches(self, pattern: &str, path: &str) -> bool {
        let begins = |heads: &[&str]| heads.iter().any(|head| words_begin(path, head));
        match (self, pattern) {
            // What is protected is named or not meant.
            (Self::Files, "**") => !path.starts_with(".git"),
            (Self::Commands, "@reads") => begins(&READS),
            (Self::Commands, "@understood") => begins(&UNDERSTOOD),
            (Self::Files, _) => match pattern.strip_suffix("/**") {
                Some(folder) => {
                    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                }
                None => path == pattern,
            },
            (Self::Commands, _) => match pattern.strip_suffix(" *") {
                Some(head) => words_begin(path, head),
                None => path == pattern,
            },
        }
    }
}

fn words_begin(path: &str, head: &str) -> bool {
    path.strip_prefix(head).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

impl PatternSyntax for Fake {
    fn speaks_of(&self, scheme: &Scheme) -> bool {
        *scheme == self.scheme()
    }

    fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
        for (index, pattern) in patterns.iter().enumerate() {
            if let Some(at) = pattern.find('[') {
                return Err(PatternError::new(
                    index,
                    at..at + 1,
                    "`[` opens a class that is not closed; write `]`",
                ));
            }
        }
        Ok(Box::new(FakeSet(*self, patterns.to_vec())))
    }

    fn resource(&self, text: &str) -> Result<Resource, PatternError> {
        if text.contains('*') {
            return Err(PatternError::new(0, 0..text.len(), "this is a pattern; write one thing"));
        }
        Ok(Resource::exact(self.scheme(), text))
    }

    fn suggest(&self, resource: &Resource) -> Option<String> {
        Some(resource.path().to_owned())
    }
}

impl PatternSet for FakeSet {
    fn first_containing(&self, resource: &Resource) -> Option<usize> {
        let is_meant = *resource.scheme() == self.0.scheme() && !resource.is_subtree();
        self.1.iter().position(|pattern| is_meant && self.0.matches(pattern, resource.path()))
    }

    fn first_touching(&self, resource: &Resource) -> Option<usize> {
        let is_meant = *resource.scheme() == self.0.scheme();
        self.1
            .iter()
            .position(|pattern| is_meant && (&**pattern == "**" || self.0.matches(pattern, resource.path())))
    }
}

/// A language of all domains.
pub(crate) fn language() -> RuleLanguage {
    RuleLanguage::new()
        .with(AccessMode::Read, Fake::Files)
        .with(AccessMode::Write, Fake::Files)
        .with(AccessMode::Execute, Fake::Commands)
        .with(AccessMode::Connect, HostPatterns)
}

/// Is files by their paths, with nothing on a disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(BTreeMap<PathBuf, String>);

impl Memory {
    pub(crate) fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.into(), text.to_owned())).collect())
    }

    pub(crate) fn with(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.0.insert(path.into(), text.into());
        self
    }
}

impl PolicySource for Memory {
    fn read(&self, path: &Path) -> io::Result<String> {
        let text = self.0.get(&self.canonical(path)?).cloned();
        text.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let mut canonical = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(canonical.pop()),
                Component::CurDir => {}
                part => canonical.push(part),
            }
        }
        if self.0.contains_key(&canonical) { Ok(canonical) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

/// Loads a user's file alone, without a profile.
pub(crate) fn load(text: &str) -> Result<LoadedPolicy, PolicyFileError> {
    PolicyLoader::new(language())
        .without_default_profile()
        .source(Memory::of([("policy.toml", text)]))
        .user("policy.toml")
        .load()
}

/// Loads a user's and a workspace's file, without a profile.
pub(crate) fn layered(user: &str, workspace: &str, trust: Trust) -> LoadedPolicy {
    let files = Memory::of([("user.toml", user), ("work/haft.toml", workspace)]);
    PolicyLoader::new(language())
        .without_default_profile()
        .source(files)
        .user("user.toml")
        .workspace("work/haft.toml", trust)
        .load()
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn notes(loaded: &LoadedPolicy) -> String {
    loaded.notes.iter().map(|note| note.to_string() + "\n").collect()
}

pub(crate) fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name.parse().unwrap(), "Does it.", Schema::empty())
}

/// Makes the scope of the last of these agents, below the others.
pub(crate) fn scope(agents: &[&str]) -> CallScope {
    let start = CallScope::new("run-0".parse().unwrap());
    agents.iter().enumerate().fold(start, |scope, (depth, agent)| {
        let scope = if depth == 0 { scope } else { scope.child(format!("run-{depth}").parse().unwrap()) };
        scope.with_agent(*agent)
    })
}

/// Decides an access as it is written in tests, for the last of these agents, and says why.
pub(crate) fn decide(loaded: &LoadedPolicy, agents: &[&str], access: &str) -> String {
    let accesses = Accesses::from(access_of(access));
    loaded.policy.decide_in(&scope(agents), loaded.mode, &spec("t"), &accesses).to_string()
}

pub(crate) fn decision(loaded: &LoadedPolicy, agents: &[&str], access: &Access) -> Decision {
    let accesses = Accesses::from(access.clone());
    loaded.policy.decide_in(&scope(agents), loaded.mode, &spec("t"), &accesses).decision()
}

pub(crate) fn access_of(text: &str) -> Access {
    language().access(text).unwrap()
}
