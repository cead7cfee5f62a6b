use crate::loaded_policy::Note;
use crate::problem::PolicyProblem;
use crate::source_text::Place;
use haft_core::Decision;

/// Lists what became of the tests of policy files, in the order in which they are written.
///
/// What [`PolicyLoader::load`](crate::PolicyLoader::load) refuses a file for is told test by test here:
///
/// ```
/// use haft_policy::{HostPatterns, PolicyLoader, TestOutcome};
/// use haft_tools_core::{AccessMode, RuleLanguage};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("policy.toml");
/// # std::fs::write(&path, r#"
/// # [permissions]
/// # allow = ["connect(*.example.org:443)"]
/// #
/// # [[test]]
/// # access = "connect(api.example.org:443)"
/// # expect = "allow"
/// #
/// # [[test]]
/// # access = "connect(example.com:443)"
/// # expect = "deny"
/// # "#)?;
/// let language = RuleLanguage::new().with(AccessMode::Connect, HostPatterns);
/// let report = PolicyLoader::new(language).user(&path).test()?;
/// let failed = report.results().iter().filter(|result| matches!(result.outcome(), TestOutcome::Failed(_)));
/// assert_eq!((report.results().len(), failed.count()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TestReport {
    results: Vec<TestResult>,
}

/// Says what became of one test of a policy file.
///
/// ```
/// use haft_core::Decision;
/// use haft_policy::{HostPatterns, PolicyLoader};
/// use haft_tools_core::{AccessMode, RuleLanguage};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("policy.toml");
/// std::fs::write(&path, "[[test]]\naccess = \"connect(example.com:443)\"\nmode = \"plan\"\nexpect = \"deny\"\n")?;
/// let language = RuleLanguage::new().with(AccessMode::Connect, HostPatterns);
/// let report = PolicyLoader::new(language).user(&path).test()?;
/// let result = &report.results()[0];
/// assert_eq!((result.title(), result.expected()), ("connect(example.com:443) in the mode plan", Decision::Deny));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TestResult {
    title: String,
    /// As it is called in a sentence.
    called: String,
    expected: Decision,
    place: Place,
    outcome: TestOutcome,
}

/// Says whether a test of a policy file found what it expects.
///
/// ```
/// use haft_policy::{HostPatterns, PolicyLoader, TestOutcome};
/// use haft_tools_core::{AccessMode, RuleLanguage};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("policy.toml");
/// # std::fs::write(&path, r#"
/// # [[test]]
/// # access = "connect(example.com:443)"
/// # expect = "allow"
/// #
/// # [[test]]
/// # command = "git status"
/// # expect = "allow"
/// # "#)?;
/// # let language = RuleLanguage::new().with(AccessMode::Connect, HostPatterns);
/// # let report = PolicyLoader::new(language).user(&path).test()?;
/// let said: Vec<&str> = report
///     .results()
///     .iter()
///     .map(|result| match result.outcome() {
///         TestOutcome::Failed(problem) => problem.message(),
///         TestOutcome::NotRun(why) => why,
///         _ => "passed",
///     })
///     .collect();
/// assert_eq!(said, [
///     "the test expects allow and gets ask",
///     "there are no tools here to make the call with",
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestOutcome {
    /// It was decided as expected.
    Passed,
    /// It could not be run here, with the reason.
    NotRun(String),
    /// It was decided otherwise, or cannot be decided.
    Failed(PolicyProblem),
}

impl TestReport {
    pub(crate) fn new(results: Vec<TestResult>) -> Self {
        Self { results }
    }

    /// The results, file by file.
    pub fn results(&self) -> &[TestResult] {
        &self.results
    }
}

impl TestResult {
    pub(crate) fn new(
        title: String,
        called: String,
        place: Place,
        (expected, outcome): (Decision, TestOutcome),
    ) -> Self {
        Self { title, called, expected, place, outcome }
    }

    /// Notes that it was not run, and why.
    pub(crate) fn not_run(&self, why: &str) -> Note {
        Note::new(format!("{} is not run: {why}", self.called), self.place.clone())
    }

    /// The name of the test, or what it decides as it is written, for whom and in which mode.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the decision is to be.
    pub fn expected(&self) -> Decision {
        self.expected
    }

    /// Where what it decides is written.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What became of it.
    pub fn outcome(&self) -> &TestOutcome {
        &self.outcome
    }
}
