/// What starts a comment in some language.
const COMMENTS: [&str; 10] = ["//", "#", "--", ";", "/*", "<!--", "%", "*", "\"\"\"", "{/*"];

/// Words that, with an ellipsis, say that something is left out.
const WITH_ELLIPSIS: [&str; 15] = [
    "existing",
    "rest of",
    "the rest",
    "remaining",
    "unchanged",
    "omitted",
    "same as",
    "as before",
    "previous",
    "other methods",
    "other functions",
    "other imports",
    "original",
    "keep ",
    "your code",
];

/// Words that say so without one.
const ALONE: [&str; 15] = [
    "rest unchanged",
    "rest is unchanged",
    "rest of the file unchanged",
    "rest of file unchanged",
    "rest of the file is unchanged",
    "rest of the file remains",
    "rest of the code remains",
    "rest of the code unchanged",
    "rest of the code here",
    "remaining code unchanged",
    "remaining code here",
    "existing code here",
    "existing code unchanged",
    "omitted for brevity",
    "code remains the same",
];

/// How long a line is, in bytes, that only stands for others.
const LONGEST: usize = 120;

/// Finds the first line of a text that says that something is left out, and that the text before does not have.
pub(super) fn elision<'t>(content: &'t str, before: &str) -> Option<(u64, &'t str)> {
    let stands_for_others = |line: &str| {
        let line = line.trim();
        line.len() <= LONGEST && is_elision(line) && !before.lines().any(|old| old.trim() == line)
    };
    let (line, text) = (1..).zip(content.lines()).find(|(_, line)| stands_for_others(line))?;
    Some((line, text.trim()))
}

fn is_elision(line: &str) -> bool {
    let is_bare = line.starts_with("...") || line.starts_with('…') || line.starts_with("[...");
    let Some(text) = COMMENTS.iter().find_map(|start| line.strip_prefix(start)).or(is_bare.then_some(line))
    else {
        return false;
    };
    let text = text.trim_start_matches(['/', '#', '*', '-', ';', ' ']).to_lowercase();
    let has_ellipsis = text.contains("...") || text.contains('…');
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    // An ellipsis in a sentence is nothing special; one at either end of a short one is.
    let text_end = text.trim_end_matches(['*', '/', '-', '>', '}', ' ', ']', ')']);
    let at_an_end = text.starts_with("...")
        || text.starts_with(['…', '(', '['])
        || text_end.ends_with("...")
        || text_end.ends_with('…');
    has_ellipsis && at_an_end && says(&WITH_ELLIPSIS) || says(&ALONE)
}

#[cfg(test)]
mod tests {
    use super::elision;

    #[test]
    fn finds_what_stands_for_something_left_out() {
        for line in [
            "// ... existing code ...",
            "    // ... rest of the file ...",
            "# ... rest unchanged",
            "# rest unchanged",
            "/* ... existing styles ... */",
            "<!-- ... existing content ... -->",
            "{/* ... existing JSX ... */}",
            "... (rest of the code remains the same)",
            "// Rest of the code here",
            "-- … remaining columns …",
            "# (existing code here)",
        ] {
            assert_eq!(elision(&format!("a\n{line}\n"), "a\n"), Some((2, line.trim())), "{line}");
            assert_eq!(elision(&format!("a\n{line}\n"), &format!("{line}\nb\n")), None, "{line}");
        }
    }

    #[test]
    fn leaves_ordinary_text_alone() {
        for line in [
            "// Keeps the rest of the buffer for the next call.",
            "let rest = existing[..];",
            "# Existing users keep their settings",
            "println!(\"... existing code ...\");",
            "* the remaining entries are unchanged by this",
            "...args",
            "// and so on...",
            "# TODO: ...",
        ] {
            assert_eq!(elision(line, ""), None, "{line}");
        }
    }
}
