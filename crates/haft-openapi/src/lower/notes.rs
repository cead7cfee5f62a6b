use crate::OpenApiProblem;
use crate::problem::Problems;

/// The most that is said of one operation.
const MOST: usize = 100;

/// Collects what is said of an operation while it is read, and counts what is looked at for it.
#[derive(Debug)]
pub(crate) struct Notes {
    problems: Problems,
    steps: usize,
}

impl Default for Notes {
    fn default() -> Self {
        Self { problems: Problems::new(MOST), steps: 0 }
    }
}

impl Notes {
    pub(crate) fn push(&mut self, problem: impl FnOnce() -> OpenApiProblem) {
        self.problems.push_with(problem);
    }

    /// Counts a part of the document that is looked at, such as a parameter or a media type.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
    }

    /// How many parts of the document were looked at.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    pub(crate) fn done(self) -> Vec<OpenApiProblem> {
        self.problems.done()
    }
}
