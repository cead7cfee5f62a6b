use super::AgentFile;
use super::error::AgentFileError;
use super::note::{FileNote, NoteKind};
use super::tool_terms::is_known;
use haft_tools_core::{listed, nearest};
use std::sync::Arc;

/// Is a tool that a file names as it is called here.
#[derive(Debug, Clone)]
pub(super) struct NamedTool {
    pub(super) key: &'static str,
    /// The line of the key, 1-based.
    pub(super) line: usize,
    pub(super) name: String,
    /// Whether the agent is not to have it.
    pub(super) is_left_out: bool,
}

impl AgentFile {
    /// Looks whether there are the tools that the file names one by one, among those of the house.
    ///
    /// One that is chosen and is not there is given as a note: it may be there in another run. So is one that other runs of haft
    /// have, and one of a server of which there is no tool at all, as in `github__create_issue`.
    ///
    /// # Errors
    ///
    /// When a tool is left out that is not there: it is most likely written wrong, and the agent would have the one that is
    /// meant.
    ///
    /// ```
    /// use haft_subagents::AgentFile;
    ///
    /// let text = "---\nname: reader\ndescription: Reads.\ndisallowedTools: edit_fil\n---\nYou read.\n";
    /// let file = AgentFile::parse(text, "agents/reader.md")?;
    /// assert_eq!(
    ///     file.check_tools(&["read_file", "edit_file"]).unwrap_err().to_string(),
    ///     "agents/reader.md:4: `disallowedTools` leaves out `edit_fil`, which is not a tool here; did you mean `edit_file`?",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_tools(&self, tools: &[&str]) -> Result<Vec<FileNote>, AgentFileError> {
        let names = || tools.iter().copied();
        let mut notes = Vec::new();
        for NamedTool { key, line, name, is_left_out } in &self.named {
            if names().any(|known| known == name) {
                continue;
            }
            let near = nearest(name, names());
            let hint = if near.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", listed(near, "or"))
            };
            // Of a server that is not there nothing has to be left out.
            let is_there = match name.split_once("__") {
                None => true,
                Some((server, _)) => {
                    let of_server =
                        |known: &str| known.split_once("__").is_some_and(|known| known.0 == server);
                    names().any(of_server)
                }
            };
            if *is_left_out && is_there && !is_known(name) {
                return Err(AgentFileError::Key {
                    file: self.source.to_string(),
                    line: *line,
                    key: (*key).to_owned(),
                    reason: format!("leaves out `{name}`, which is not a tool here{hint}"),
                });
            }
            let text = format!("`{name}` in `{key}` is not a tool here{hint}");
            let file = Arc::clone(&self.source);
            notes.push(FileNote { file, line: *line, key: (*key).to_owned(), kind: NoteKind::Unknown, text });
        }
        Ok(notes)
    }
}
