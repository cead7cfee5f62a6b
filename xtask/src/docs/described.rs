//! The tables of a manifest with the comment that stands above each line.

/// One line of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) name: String,
    /// The comment right above it, its lines joined; empty if there is none.
    pub(super) comment: String,
}

/// Reads a table of a manifest.
///
/// Comments are no part of what a TOML parser hands out, so the text is read line by line; cargo has already refused
/// what is not TOML.
pub(super) fn entries(manifest: &str, table: &str) -> Vec<Described> {
    let header = format!("[{table}]");
    let mut entries = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut open_brackets = 0_usize;
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if open_brackets == 0 && line.starts_with('[') {
            inside = line.split('#').next().is_some_and(|line| line.trim() == header);
        } else if !inside {
            // Another table.
        } else if open_brackets > 0 {
            open_brackets = brackets_after(open_brackets, line);
        } else if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
            continue;
        } else if let Some((name, value)) = line.split_once('=') {
            entries.push(Described {
                name: name.trim().trim_matches('"').to_owned(),
                comment: comment.join(" "),
            });
            open_brackets = brackets_after(0, value);
        }
        comment.clear();
    }
    entries
}

/// Counts the brackets that are open after a line, outside quotes and comments.
fn brackets_after(mut open: usize, line: &str) -> usize {
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            '#' if !quoted => break,
            '[' if !quoted => open += 1,
            ']' if !quoted => open = open.saturating_sub(1),
            _ => {}
        }
    }
    open
}
