//! The page of events, made of the documentation of their types.

use std::fmt::Write as _;

use super::cell;

/// Makes the page of the file that holds the types.
///
/// The file is laid out by rustfmt, so that its lines say how deep they stand: items at the margin, variants and fields of structs at
/// four blanks, fields of variants at eight.
pub(super) fn page(path: &str, code: &str) -> String {
    let mut page = format!(
        "# Events\n\n\
         <!-- Written by `cargo xtask docs` from {path}. -->\n\n\
         What observers are told, and what `haft run --json` prints one object a line. In JSON the name of what happened stands in\n\
         `event`, beside its own fields and those of every event. A reader skips what it does not know: more may come.\n"
    );
    let mut said: Vec<&str> = Vec::new();
    let mut item = "";
    for line in code.lines() {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        if let Some(comment) = text.strip_prefix("///") {
            said.push(comment.trim());
            continue;
        }
        if text.starts_with("#[") {
            continue;
        }
        if let (0, Some(name)) = (depth, declared(text)) {
            item = name;
            if matches!(text.split(' ').nth(1), Some("struct" | "enum")) {
                let _ = write!(page, "\n## {name}\n\n{}\n", paragraphs(&said));
                if text.contains(" struct ") {
                    page.push_str("\n| field | type | what it is |\n| --- | --- | --- |\n");
                }
            }
        } else if depth == 4 && !said.is_empty() && !item.is_empty() {
            member(&mut page, item, text, &paragraphs(&said));
        } else if depth == 8
            && !said.is_empty()
            && let Some((field, kind)) = text.trim_end_matches(',').split_once(": ")
        {
            let _ = writeln!(page, "| `{field}` | `{kind}` | {} |", cell(&paragraphs(&said)));
        }
        if depth == 0 && text == "}" {
            item = "";
        }
        said.clear();
    }
    page
}

/// The name of a type that is declared at the margin; what else stands there ends the one before.
fn declared(text: &str) -> Option<&str> {
    let mut words = text.split([' ', '{', ';']);
    match (words.next()?, words.next()?) {
        ("pub", "struct" | "enum") => words.next(),
        ("impl" | "mod" | "fn", _) => Some(""),
        _ => None,
    }
}

/// Writes a variant, or a field of a struct.
fn member(page: &mut String, item: &str, text: &str, said: &str) {
    if let Some((field, kind)) = text.trim_start_matches("pub ").trim_end_matches(',').split_once(": ") {
        let _ = writeln!(page, "| `{field}` | `{kind}` | {} |", cell(said));
        return;
    }
    let name = text.trim_end_matches([',', '{', ' ']);
    if item != "EventKind" {
        let _ = writeln!(page, "\n- `{}`: {said}", snake(name));
        return;
    }
    let _ = writeln!(page, "\n### `{}`\n\n{said}", snake(name));
    if text.ends_with('{') {
        page.push_str("\n| field | type | what it is |\n| --- | --- | --- |\n");
    }
}

/// Joins lines of documentation, without examples, with an empty line between paragraphs.
fn paragraphs(said: &[&str]) -> String {
    let mut is_code = false;
    let kept = said.iter().filter(|line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let text = kept.copied().collect::<Vec<_>>().join("\n");
    text.trim().replace("[`", "`").replace("`]", "`")
}

/// Writes a name as it stands in JSON.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn variants_and_fields_are_told_with_their_documentation() {
        let code = "use x;\n\n/// Tells one thing.\n///\n/// ```\n/// x();\n/// ```\n#[derive(Debug)]\npub struct Event {\n    /// Counts from 0.\n    pub sequence: u64,\n}\n\nimpl Event {\n    /// Makes one.\n    pub fn new() -> Self {\n    }\n}\n\n/// Says what happened.\npub enum EventKind {\n    /// It began.\n    RunStarted {\n        /// Who | what.\n        #[serde(default)]\n        agent: Option<String>,\n    },\n    /// It is [`over`].\n    Over,\n}\n\n/// Says why.\npub enum StopReason {\n    /// It was done.\n    EndTurn,\n}\n";
        let page = page("event.rs", code);
        let (_, types) = page.split_once("\n## ").unwrap();
        assert_eq!(
            types,
            "Event\n\nTells one thing.\n\n| field | type | what it is |\n| --- | --- | --- |\n\
             | `sequence` | `u64` | Counts from 0. |\n\
             \n## EventKind\n\nSays what happened.\n\
             \n### `run_started`\n\nIt began.\n\n| field | type | what it is |\n| --- | --- | --- |\n\
             | `agent` | `Option<String>` | Who \\| what. |\n\
             \n### `over`\n\nIt is `over`.\n\
             \n## StopReason\n\nSays why.\n\n- `end_turn`: It was done.\n"
        );
    }
}
