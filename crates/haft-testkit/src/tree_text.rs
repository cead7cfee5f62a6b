//! How a tree of files is written as one text.

/// One entry with its lines.
pub(crate) struct Entry<'a> {
    /// As it is written: with a `/` at its end for a directory.
    pub(crate) path: &'a str,
    /// What a link leads to.
    pub(crate) target: Option<&'a str>,
    pub(crate) lines: String,
}

impl Entry<'_> {
    /// Tells whether it is a file.
    pub(crate) fn takes_lines(&self) -> bool {
        self.target.is_none() && !self.path.ends_with('/')
    }
}

/// Reads the entries, in their order; what stands before the first of them is a comment.
pub(crate) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(head) = head(line) {
            let (path, target) = match head.split_once(" -> ") {
                Some((path, target)) => (path, Some(target)),
                None => (head, None),
            };
            entries.push(Entry { path, target, lines: String::new() });
        } else if let Some(entry) = entries.last_mut() {
            entry.lines.push_str(line);
        }
    }
    entries
}

/// What a line names, if it begins an entry.
fn head(line: &str) -> Option<&str> {
    let head = line.trim_end_matches(['\n', '\r']).strip_prefix("-- ")?.strip_suffix(" --")?;
    (!head.trim().is_empty()).then_some(head.trim())
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn a_line_between_dashes_begins_an_entry_and_others_are_lines() {
        let found: Vec<(&str, Option<&str>, String)> =
            entries("x\n-- a b --\n--\n-- --\n--c--\n-- d -> e --")
                .into_iter()
                .map(|entry| (entry.path, entry.target, entry.lines))
                .collect();
        assert_eq!(found, [("a b", None, "--\n-- --\n--c--\n".to_owned()), ("d", Some("e"), String::new())]);
    }
}
