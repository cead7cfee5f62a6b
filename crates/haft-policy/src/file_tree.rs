use crate::file_limits::FileLimits;
use crate::policy_file::{AgentRules, PolicyFile};
use crate::policy_source::PolicySource;
use crate::problem::{PolicyProblem, Problems};
use crate::rule_lists::RuleLists;
use crate::source_text::{Placed, SourceText};
use crate::{PolicyFileError, Profile, SandboxMode};
use haft_tools_core::{Mode, RuleLanguage};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// How many files may include each other in a row, below the first.
const DEEPEST: usize = 8;

/// The most files of one tree.
const MOST_FILES: usize = 64;

/// Holds a policy file and all that it includes; a file that is included twice is there once.
#[derive(Debug)]
pub(crate) struct FileTree {
    /// What a file includes stands before it; the last is the one that was asked for.
    nodes: Vec<Node>,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) file: PolicyFile,
    includes: Vec<usize>,
}

/// Holds what a file and all that it includes say together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Merged {
    pub(crate) rules: RuleLists,
    pub(crate) agents: BTreeMap<Box<str>, AgentRules>,
    pub(crate) profile: Option<Placed<Profile>>,
    pub(crate) mode: Option<Placed<Mode>>,
    pub(crate) sandbox: Option<Placed<SandboxMode>>,
    pub(crate) limits: FileLimits,
}

/// Says how the files of a tree are read.
#[derive(Clone, Copy)]
pub(crate) struct Files<'a> {
    pub(crate) source: &'a dyn PolicySource,
    pub(crate) language: &'a RuleLanguage,
    pub(crate) others: &'a [&'a str],
    /// Whether what is included has to be in the folder of the first file or below it.
    pub(crate) confined: bool,
}

/// Reads the files of one tree.
struct Walk<'a> {
    files: Files<'a>,
    /// The folder that must not be left, once it is known.
    folder: Option<PathBuf>,
    /// The files that include each other, from the first to the one that is read, each with the name it is known by.
    chain: Vec<(PathBuf, String)>,
    /// What became of each file; `None` if something is wrong with it.
    known: HashMap<PathBuf, Option<usize>>,
    nodes: Vec<Node>,
    /// How many rules were met in all of them.
    rules: usize,
    problems: Problems,
}

impl FileTree {
    pub(crate) fn read(path: &Path, files: Files<'_>) -> Result<Self, PolicyFileError> {
        let mut walk = Walk {
            files,
            folder: None,
            chain: Vec::new(),
            known: HashMap::new(),
            nodes: Vec::new(),
            rules: 0,
            problems: Problems::default(),
        };
        walk.visit(path, None);
        walk.problems.unless_any(Self { nodes: walk.nodes })
    }

    /// Iterates over the files, what they include before them.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// Merges all files.
    pub(crate) fn merged(&self) -> Merged {
        self.nodes.last().map(|node| self.merged_from(node)).unwrap_or_default()
    }

    /// Merges one file with what it includes.
    pub(crate) fn merged_from(&self, node: &Node) -> Merged {
        let mut merged = Merged::default();
        let mut seen = vec![false; self.nodes.len()];
        self.merge(node, &mut seen, &mut merged);
        merged
    }

    fn merge(&self, node: &Node, seen: &mut [bool], merged: &mut Merged) {
        for place in &node.includes {
            if !std::mem::replace(&mut seen[*place], true) {
                self.merge(&self.nodes[*place], seen, merged);
            }
        }
        merged.add(&node.file);
    }
}

impl Merged {
    /// Adds what a file says, which counts where something is said once.
    fn add(&mut self, file: &PolicyFile) {
        self.rules.extend(&file.rules);
        for (name, rules) in &file.agents {
            self.agents.entry(name.clone()).or_default().extend(rules);
        }
        let PolicyFile { profile, mode, sandbox, .. } = file;
        self.profile = profile.clone().or(self.profile.take());
        self.mode = mode.clone().or(self.mode.take());
        self.sandbox = sandbox.clone().or(self.sandbox.take());
        self.limits.extend(&file.limits);
    }
}

impl Walk<'_> {
    /// Reads a file and all that it includes; gives its place, if nothing is wrong with it.
    fn visit(&mut self, path: &Path, blame: Option<(&SourceText, &Range<usize>)>) -> Option<usize> {
        let name = path.display().to_string();
        let refuse = |message: &str, walk: &mut Self| {
            walk.problems.add(match blame {
                Some((source, range)) => source.problem(range, message),
                None => PolicyProblem::of_file(&name, message),
            });
            None
        };
        let unreadable = |error: &io::Error| match blame {
            Some(_) => format!("cannot read `{name}`: {}", reason(error)),
            None => format!("cannot be read: {}", reason(error)),
        };
        let canonical = match self.files.source.canonical(path) {
            Ok(canonical) => canonical,
            Err(error) => return refuse(&unreadable(&error), self),
        };
        if self.files.confined {
            let parent = || canonical.parent().unwrap_or(Path::new("")).to_owned();
            let folder = self.folder.get_or_insert_with(parent);
            if !canonical.starts_with(folder) {
                return refuse(LEAVES, self);
            }
        }
        if let Some(first) = self.chain.iter().position(|(known, _)| *known == canonical) {
            let names: Vec<&str> =
                self.chain[first..].iter().map(|(_, name)| &**name).chain([&*name]).collect();
            return refuse(
                &format!("these files include each other, so take one `include` out: {}", names.join(" → ")),
                self,
            );
        }
        if let Some(known) = self.known.get(&canonical) {
            return *known;
        }
        if self.chain.len() > DEEPEST {
            return refuse(
                &format!("files include each other at most {DEEPEST} deep; include them from one file"),
                self,
            );
        }
        if self.known.len() >= MOST_FILES {
            return refuse(
                &format!("a policy is at most {MOST_FILES} files; put some of them together"),
                self,
            );
        }
        self.known.insert(canonical.clone(), None);
        let text = match self.files.source.read(path) {
            Ok(text) => text,
            Err(error) => return refuse(&unreadable(&error), self),
        };
        // The tables of others count where a file is named, so they must not be lost in one that is included.
        let Files { language, others, .. } = self.files;
        let others = if self.chain.is_empty() { others } else { &[] };
        let file = match PolicyFile::parse_behind(&text, &name, language, others, &mut self.rules) {
            Ok(file) => file,
            Err(error) => {
                self.problems.extend(error);
                return None;
            }
        };
        self.chain.push((canonical.clone(), name.clone()));
        let includes = self.visit_included(&file, path);
        self.chain.pop();
        self.nodes.push(Node { file, includes });
        let place = self.nodes.len() - 1;
        self.known.insert(canonical, Some(place));
        Some(place)
    }

    fn visit_included(&mut self, file: &PolicyFile, path: &Path) -> Vec<usize> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut places = Vec::new();
        for (included, range) in &file.includes {
            let stays = |part| matches!(part, Component::Normal(_) | Component::CurDir);
            if self.files.confined && !Path::new(included).components().all(stays) {
                self.problems.add(file.source.problem(range, LEAVES));
                continue;
            }
            places.extend(self.visit(&folder.join(included), Some((&file.source, range))));
        }
        places
    }
}

const LEAVES: &str = "a policy that is not trusted includes only files in its own directory and below it";

/// Says why a file cannot be read, without the number that the system has for it.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission is denied".to_owned(),
        _ => error.to_string(),
    }
}
