mod agents;

pub(crate) use agents::AgentRules;

use crate::file_limits::FileLimits;
use crate::problem::{PolicyFileError, PolicyProblem};
use crate::reader::{Reader, Value};
use crate::rule_lists::{LISTS, RuleLists};
use crate::source_text::{Placed, SourceText};
use crate::test_case::TestCase;
use crate::{Profile, SandboxMode};
use haft_tools_core::{Mode, RuleLanguage, Rules};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::DeTable;

/// The most bytes of a policy file.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// The tables and keys that policy files have.
pub(crate) const KEYS: [&str; 7] =
    ["include", "profile", "permissions", "agents", "limits", "sandbox", "test"];

/// Holds what one policy file says, before anything that it includes is read.
///
/// ```
/// use haft_policy::PolicyFile;
/// use haft_tools_core::RuleLanguage;
///
/// let file = PolicyFile::parse("[permissions]\ndeny = [\"bash\"]\n", "policy.toml", &RuleLanguage::new())?;
/// assert!(!file.rules().is_empty());
///
/// let error = PolicyFile::parse("[permisions]\n", "policy.toml", &RuleLanguage::new()).unwrap_err();
/// assert_eq!(
///     error.problems()[0].message(),
///     "`permisions` is not a key of a policy file; write `permissions`"
/// );
/// # Ok::<(), haft_policy::PolicyFileError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PolicyFile {
    pub(crate) source: SourceText,
    pub(crate) includes: Vec<(String, Range<usize>)>,
    pub(crate) profile: Option<Placed<Profile>>,
    pub(crate) mode: Option<Placed<Mode>>,
    pub(crate) sandbox: Option<Placed<SandboxMode>>,
    pub(crate) rules: RuleLists,
    pub(crate) agents: BTreeMap<Box<str>, AgentRules>,
    pub(crate) limits: FileLimits,
    pub(crate) tests: Vec<TestCase>,
}

impl PolicyFile {
    /// Reads a policy file, under the name that people know it by.
    ///
    /// # Errors
    ///
    /// When it is larger than 1 MiB, is not TOML, or says anything that a policy file does not: everything that is wrong
    /// with it, with the nearest valid word.
    pub fn parse(text: &str, name: &str, language: &RuleLanguage) -> Result<Self, PolicyFileError> {
        Self::parse_with_others(text, name, language, &[])
    }

    /// Reads the tables of a policy in a file that also has the tables of others, whose names are given.
    ///
    /// Every other table is refused, so that a rule is not lost to a slip in the name of its table. The name `agents.KEY`
    /// stands for a key of others in the tables of agents.
    ///
    /// ```
    /// use haft_policy::PolicyFile;
    /// use haft_tools_core::RuleLanguage;
    ///
    /// let text = "[model]\nname = \"m\"\n\n[permissions]\ndeny = [\"bash\"]\n";
    /// assert!(PolicyFile::parse_with_others(text, "haft.toml", &RuleLanguage::new(), &["model"]).is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`PolicyFile::parse`].
    pub fn parse_with_others(
        text: &str,
        name: &str,
        language: &RuleLanguage,
        others: &[&str],
    ) -> Result<Self, PolicyFileError> {
        Self::parse_behind(text, name, language, others, &mut 0)
    }

    /// Reads a file of several that have so many rules together, and counts its own among them.
    pub(crate) fn parse_behind(
        text: &str,
        name: &str,
        language: &RuleLanguage,
        others: &[&str],
        rules: &mut usize,
    ) -> Result<Self, PolicyFileError> {
        Self::read(text, name, Reading { language, others, built_in: false }, rules)
    }

    /// Reads a file of haft's own, whose rules are left out where the language has no patterns of their mode.
    pub(crate) fn built_in(text: &str, name: &str, language: &RuleLanguage) -> Result<Self, PolicyFileError> {
        Self::read(text, name, Reading { language, others: &[], built_in: true }, &mut 0)
    }

    fn read(
        text: &str,
        name: &str,
        reading: Reading<'_>,
        rules: &mut usize,
    ) -> Result<Self, PolicyFileError> {
        if text.len() > MOST_BYTES {
            let problem =
                PolicyProblem::of_file(name, "a policy file has at most 1 MiB; split it up with `include`");
            return Err(problem.into());
        }
        let source = SourceText::new(name, text);
        let mut reader = Reader::new(&source, reading.language);
        reader.leaves_out_unknown_patterns = reading.built_in;
        reader.rules = *rules;
        let (document, errors) = DeTable::parse_recoverable(source.text());
        for error in errors {
            reader.refuse(&error.span().unwrap_or_default(), error.message());
        }
        reader.syntax_is_read();
        let mut file = Self {
            source: source.clone(),
            includes: Vec::new(),
            profile: None,
            mode: None,
            sandbox: None,
            rules: RuleLists::default(),
            agents: BTreeMap::new(),
            limits: FileLimits::default(),
            tests: Vec::new(),
        };
        for (key, value) in document.get_ref() {
            match &**key.get_ref() {
                "include" => file.read_includes(&mut reader, value),
                "profile" => {
                    let profiles = Profile::ALL.map(|profile| (profile.as_str(), profile));
                    let profile = reader.word(value, "a profile", &profiles);
                    file.profile = profile.map(|profile| source.placed(profile, value.span().start));
                }
                "permissions" => file.read_permissions(&mut reader, value),
                "agents" => file.agents = agents::read(&mut reader, value, reading.others),
                "limits" => {
                    if let Some(table) = reader.table(value, "limits") {
                        file.limits = FileLimits::read(&mut reader, table);
                    }
                }
                "sandbox" => file.read_sandbox(&mut reader, value),
                "test" => file.tests = TestCase::read_all(&mut reader, value),
                word if reading.others.contains(&word) => {}
                word @ ("allow" | "ask" | "deny" | "mode") => {
                    reader.refuse(
                        &key.span(),
                        format!("`{word}` is a key of `[permissions]`; write that above it"),
                    );
                }
                _ if reading.others.is_empty() => reader.unknown(key, "a policy file", &KEYS),
                _ => {
                    let known: Vec<&str> = KEYS.iter().chain(reading.others).copied().collect();
                    reader.unknown(key, "this file", &known);
                }
            }
        }
        *rules = reader.rules;
        reader.problems.in_order().unless_any(file)
    }

    fn read_includes(&mut self, reader: &mut Reader<'_>, value: &Value<'_>) {
        for (path, value) in reader.texts(value, "include") {
            if path.is_empty() {
                reader.refuse(
                    &value.span(),
                    "the name of the file is missing; write it, or take the entry out",
                );
            } else {
                self.includes.push((path.to_owned(), reader.within(value, 0..path.len())));
            }
        }
    }

    fn read_permissions(&mut self, reader: &mut Reader<'_>, value: &Value<'_>) {
        for (key, value) in reader.table(value, "permissions").into_iter().flatten() {
            match &**key.get_ref() {
                word if LISTS.contains(&word) => self.rules.read(reader, word, value),
                "mode" => {
                    let modes: Vec<_> = Mode::ALL.iter().map(|mode| (mode.as_str(), *mode)).collect();
                    let mode = reader.word(value, "a mode", &modes);
                    self.mode = mode.map(|mode| reader.source.placed(mode, value.span().start));
                }
                _ => reader.unknown(key, "`[permissions]`", &["allow", "ask", "deny", "mode"]),
            }
        }
    }

    fn read_sandbox(&mut self, reader: &mut Reader<'_>, value: &Value<'_>) {
        for (key, value) in reader.table(value, "sandbox").into_iter().flatten() {
            if *key.get_ref() == "mode" {
                let modes = SandboxMode::ALL.map(|mode| (mode.as_str(), mode));
                let mode = reader.word(value, "a mode of the sandbox", &modes);
                self.sandbox = mode.map(|mode| reader.source.placed(mode, value.span().start));
            } else {
                reader.unknown(key, "`[sandbox]`", &["mode"]);
            }
        }
    }

    /// The name that people know the file by.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The files that it includes, as they are written: relative to the folder of this one.
    pub fn includes(&self) -> impl Iterator<Item = &str> {
        self.includes.iter().map(|(path, _)| path.as_str())
    }

    /// The profile that it builds on, if it names one.
    pub fn profile(&self) -> Option<Profile> {
        self.profile.as_ref().map(|profile| profile.value)
    }

    /// The mode that runs start in, if it names one.
    pub fn mode(&self) -> Option<Mode> {
        self.mode.as_ref().map(|mode| mode.value)
    }

    /// Whether what is run is kept within a sandbox, if it says so.
    pub fn sandbox(&self) -> Option<SandboxMode> {
        self.sandbox.as_ref().map(|mode| mode.value)
    }

    /// Its rules for all agents, each with where it is written.
    pub fn rules(&self) -> Rules {
        self.rules.to_rules()
    }

    /// The names of the agents that it has rules for, in order.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(|name| &**name)
    }

    /// What it says of limits.
    pub fn limits(&self) -> &FileLimits {
        &self.limits
    }

    /// How many tests it has.
    pub fn test_count(&self) -> usize {
        self.tests.len()
    }
}

/// Says how a file is read.
#[derive(Clone, Copy)]
struct Reading<'a> {
    language: &'a RuleLanguage,
    others: &'a [&'a str],
    built_in: bool,
}
