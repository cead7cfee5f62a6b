use haft_core::{Content, RunId, ToolError, ToolOutput};

/// Says how a run has ended that was delegated to, for the model of the run above it.
///
/// ```
/// use haft_agent::DelegateEnd;
///
/// let (one, other) = ("explorer-1".parse()?, "explorer-2".parse()?);
/// let done = DelegateEnd::new(&one, DelegateEnd::DONE, "They are in `tests`.");
/// assert_eq!(DelegateEnd::output(&[done])?.to_text(), "They are in `tests`.");
///
/// let spent = DelegateEnd::new(&other, "stopped", "").because("its budget of model turns is spent");
/// assert_eq!(spent.told(), "`explorer-2` stopped: its budget of model turns is spent");
/// assert!(DelegateEnd::output(&[spent]).is_err());
/// assert!(DelegateEnd::output(&[done, spent]).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelegateEnd<'a> {
    run: &'a RunId,
    ended: &'a str,
    why: Option<&'a str>,
    text: &'a str,
}

impl<'a> DelegateEnd<'a> {
    /// How a run ended that has done its task.
    pub const DONE: &'static str = "done";

    /// How a run ended that somebody has cancelled.
    pub const CANCELLED: &'static str = "cancelled";

    /// Says how it ended, in a word or two, and what it said last, which can be empty.
    pub fn new(run: &'a RunId, ended: &'a str, text: &'a str) -> Self {
        Self { run, ended, why: None, text }
    }

    /// Says why it ended so.
    #[must_use]
    pub fn because(self, why: impl Into<Option<&'a str>>) -> Self {
        Self { why: why.into(), ..self }
    }

    fn is_done(&self) -> bool {
        self.ended == Self::DONE
    }

    /// Says how it ended, with what it came to.
    pub fn told(&self) -> String {
        let Self { run, ended, why, text } = self;
        let head = match why {
            None => format!("`{run}` {ended}:"),
            Some(why) => format!("`{run}` {ended}: {why}"),
        };
        match (text.is_empty(), self.is_done()) {
            (true, true) => format!("{head}\n(it said nothing)"),
            (true, false) => head,
            (false, true) => format!("{head}\n{text}"),
            (false, false) => format!("{head}\nWhat it said last:\n{text}"),
        }
    }

    /// Answers a call by what its runs came to, in the order of its tasks: by the result where there is one run, and by a part
    /// for each otherwise.
    ///
    /// # Errors
    ///
    /// For the model: when its one run was not done, or none of several came to anything; cancelled where all of them were.
    pub fn output(ends: &[Self]) -> Result<ToolOutput, ToolError> {
        if let [end] = ends
            && end.is_done()
        {
            return Ok(ToolOutput::text(end.text).with_child_run(end.run.clone()));
        }
        if ends.len() == 1 || ends.iter().all(|end| !end.is_done() && end.text.is_empty()) {
            let told: Vec<String> = ends.iter().map(Self::told).collect();
            let told = told.join("\n");
            let is_cancelled = ends.iter().all(|end| end.ended == Self::CANCELLED);
            return Err(if is_cancelled { ToolError::cancelled(told) } else { ToolError::failed(told) });
        }
        let count = ends.len();
        let parts = ends.iter().enumerate();
        let parts =
            parts.map(|(place, end)| Content::text(format!("[{} of {count}] {}", place + 1, end.told())));
        Ok(ToolOutput::new(parts.collect()))
    }
}
