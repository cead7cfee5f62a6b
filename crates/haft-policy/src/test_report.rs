use crate::loaded_policy::Note;
use crate::problem::Problem;
use crate::source_text::Place;
use haft_core::Decision;

/// Lists what became of the tests of policy files, in the order in which they are written.
#[derive(Debug, Clone, Default)]
pub struct TestReport {
    results: Vec<TestResult>,
}

/// Says what became of one test of a policy file.
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
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestOutcome {
    /// It was decided as expected.
    Passed,
    /// It could not be run here, with the reason.
    NotRun(String),
    /// It was decided otherwise, or cannot be decided.
    Failed(Problem),
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
