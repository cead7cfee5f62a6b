mod read;
mod turn;
mod wire;

pub use read::SessionError;
pub use turn::{SessionTurn, TurnProblem};

use haft_core::CallId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Holds the turns a model took, to be played by a [`ScriptedModel`](crate::ScriptedModel).
///
/// Its file form is JSONL in UTF-8, one turn a line; empty lines may stand between them. The members of a line, all
/// optional, and nothing else:
///
/// | member | holds | where it is missing |
/// |---|---|---|
/// | `run` | which run below the session's own took the turn, as in `c1/0` | the session's own |
/// | `text` | what the model says | nothing |
/// | `reasoning` | what it thinks | nothing |
/// | `calls` | a list of `{"id", "name", "input"}`; `input` is `{}` where it is missing | no calls |
/// | `usage` | `{"input", "output", "cache_read", "cache_write"}`, in tokens | zero |
/// | `stop` | `end_turn`, `tool_calls`, `max_tokens` or `refused` | `tool_calls` with calls, else `end_turn` |
/// | `after` | how the replies to the turn before ended, by call id: `"ok"`, `"denied"`, `{"error": "not_found"}` … | not checked |
/// | `contains` | a text that a reply to the turn before must hold, by call id; written by hand | not checked |
///
/// There is no session without a turn of its own run, and no two calls of one run have the same id. The turns of runs below
/// stand anywhere between, each run's in order; what they say of calls is of those of the same run.
///
/// ```
/// use haft_model::Session;
///
/// let session = Session::parse(r#"{"text": "Hello."}"#, "hello.jsonl")?;
/// assert_eq!(session.turns()[0].text, "Hello.");
///
/// let error = Session::parse(r#"{"txt": "Hello."}"#, "hello.jsonl").unwrap_err();
/// assert!(error.to_string().starts_with("hello.jsonl line 1, column 6: unknown field `txt`"));
/// # Ok::<(), haft_model::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    name: String,
    own: Turns,
    below: BTreeMap<String, Turns>,
}

/// Holds the turns of one run.
#[derive(Debug, Clone, PartialEq, Default)]
struct Turns {
    turns: Vec<SessionTurn>,
    /// The line each turn is on, counted from 1.
    lines: Vec<usize>,
}

impl Session {
    /// Makes a session of turns that were not read from a file; `name` is what its errors call it.
    ///
    /// # Errors
    ///
    /// [`SessionError::Turn`] or [`SessionError::Empty`]; a turn's line is its number.
    pub fn new(turns: Vec<SessionTurn>, name: impl Into<String>) -> Result<Self, SessionError> {
        let lines = (1..=turns.len()).collect();
        Self::checked(turns, lines, name.into())
    }

    /// Reads a session from the text of its file; `name` is what its errors call it.
    ///
    /// # Errors
    ///
    /// Names the line, and the column where there is one, of the first thing that is not as it should be.
    pub fn parse(text: &str, name: impl Into<String>) -> Result<Self, SessionError> {
        let name = name.into();
        let (turns, lines) = read::turns(text, &name)?;
        Self::checked(turns, lines, name)
    }

    /// Reads a session from a file of at most 64 MiB; its errors name the path.
    ///
    /// Blocks for as long as the file system does.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and whatever keeps the file from being read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, SessionError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = read::text(path, &name)?;
        Self::parse(&text, name)
    }

    /// Borrows the turns of the session's own run, in order; there is at least one.
    pub fn turns(&self) -> &[SessionTurn] {
        &self.own.turns
    }

    /// Names the runs below that have turns.
    pub fn runs_below(&self) -> impl Iterator<Item = &str> {
        self.below.keys().map(String::as_str)
    }

    /// Gives the turns of a run below as a session, to be played by a model of its own; `None` where it has none.
    ///
    /// ```
    /// use haft_model::Session;
    ///
    /// let lead = r#"{"calls": [{"id": "c1", "name": "delegate", "input": {"task": "Look."}}]}"#;
    /// let child = r#"{"run": "c1/0", "text": "It is there."}"#;
    /// let session = Session::parse(&format!("{lead}\n{child}\n"), "lead.jsonl")?;
    /// assert_eq!(session.turns().len(), 1);
    /// assert_eq!(session.runs_below().collect::<Vec<_>>(), ["c1/0"]);
    /// assert_eq!(session.of_run("c1/0").unwrap().turns()[0].text, "It is there.");
    /// # Ok::<(), haft_model::SessionError>(())
    /// ```
    pub fn of_run(&self, run: &str) -> Option<Self> {
        let own = self.below.get(run)?.clone();
        Some(Self { name: self.name.clone(), own, below: BTreeMap::new() })
    }

    /// What errors call this session.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line of a turn of its own run, both counted from 1; `None` where there is no such turn.
    pub fn line_of(&self, turn: usize) -> Option<usize> {
        self.own.lines.get(turn.checked_sub(1)?).copied()
    }

    /// Writes the session as the text of its file.
    pub fn to_jsonl(&self) -> String {
        let runs = std::iter::once(&self.own).chain(self.below.values());
        let mut turns: Vec<_> = runs.flat_map(|run| run.lines.iter().zip(&run.turns)).collect();
        turns.sort_by_key(|(line, _)| **line);
        turns.into_iter().flat_map(|(_, turn)| [turn.to_line(), "\n".to_owned()]).collect()
    }

    fn checked(turns: Vec<SessionTurn>, lines: Vec<usize>, name: String) -> Result<Self, SessionError> {
        let mut rules: HashMap<String, SessionRules> = HashMap::new();
        let mut session = Self { name, own: Turns::default(), below: BTreeMap::new() };
        for (turn, line) in turns.into_iter().zip(lines) {
            if let Err(problem) = rules.entry(turn.run.clone()).or_default().admit(&turn) {
                return Err(SessionError::Turn { name: session.name, line, problem });
            }
            let run = match turn.run.as_str() {
                "" => &mut session.own,
                run => session.below.entry(run.to_owned()).or_default(),
            };
            run.turns.push(turn);
            run.lines.push(line);
        }
        if session.own.turns.is_empty() {
            return Err(SessionError::Empty { name: session.name });
        }
        Ok(session)
    }
}

/// Checks turns, one after the other, against those before them.
#[derive(Debug, Default)]
pub(crate) struct SessionRules {
    /// How many turns were admitted.
    turns: usize,
    /// In which turn, counted from 1, an id was used.
    used: HashMap<CallId, usize>,
    /// The calls of the turn before.
    answered: HashSet<CallId>,
}

impl SessionRules {
    /// Counts the turns that were admitted.
    pub(crate) fn turns(&self) -> usize {
        self.turns
    }

    /// Tells whether the turn before made this call.
    pub(crate) fn is_answered(&self, call: &CallId) -> bool {
        self.answered.contains(call)
    }

    /// Tells whether a turn before has a call of this id.
    pub(crate) fn is_used(&self, call: &CallId) -> bool {
        self.used.contains_key(call)
    }

    /// Takes the next turn, if it may come next.
    pub(crate) fn admit(&mut self, turn: &SessionTurn) -> Result<(), TurnProblem> {
        turn.check()?;
        let named = turn.after.keys().map(|id| ("after", id));
        let named = named.chain(turn.contains.keys().map(|id| ("contains", id)));
        for (field, id) in named {
            if !self.answered.contains(id) {
                return Err(TurnProblem::UnknownCall { field, id: id.clone() });
            }
        }
        let number = self.turns + 1;
        for call in &turn.calls {
            if let Some(turn) = self.used.get(&call.id) {
                return Err(TurnProblem::RepeatedId { id: call.id.clone(), turn: *turn });
            }
        }
        let mut ids = HashSet::with_capacity(turn.calls.len());
        for call in &turn.calls {
            if !ids.insert(call.id.clone()) {
                return Err(TurnProblem::RepeatedId { id: call.id.clone(), turn: number });
            }
        }
        self.used.extend(ids.iter().map(|id| (id.clone(), number)));
        self.answered = ids;
        self.turns = number;
        Ok(())
    }
}
