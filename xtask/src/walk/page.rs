//! A page as text and the blocks that are played.

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Lines that are left as they are.
    Text(String),
    /// A block of a console.
    Block(Block),
}

impl Part {
    pub(super) fn block(&mut self) -> Option<&mut Block> {
        match self {
            Self::Text(_) => None,
            Self::Block(block) => Some(block),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The line that opens it, from 1.
    pub(super) line: usize,
    /// Whether it is played with the Inspector only.
    pub(super) needs_inspector: bool,
    opening: String,
    pub(super) steps: Vec<Step>,
}

/// A command and what it prints.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) line: usize,
    /// One line or several, without what stands in front of them.
    pub(super) command: String,
    /// What it prints, and how it ends if not well; each line with its end.
    pub(super) output: String,
}

/// Takes a page apart.
pub(super) fn parse(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut open: Option<Block> = None;
    // A block of another kind may show what a console looks like.
    let mut other: Option<&str> = None;
    for (index, line) in page.lines().enumerate() {
        let fence: &str = &line[..line.len() - line.trim_start_matches('`').len()];
        if let Some(block) = &mut open {
            if fence.len() >= 3 {
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.extend(open.take().map(Part::Block));
                text.push_str(line);
                text.push('\n');
            } else if let Some(command) = line.strip_prefix("$ ") {
                let (command, output) = (command.to_owned(), String::new());
                block.steps.push(Step { line: index + 1, command, output });
            } else if let Some(step) = block.steps.last_mut() {
                match line.strip_prefix("> ").or((line == ">").then_some("")) {
                    Some(more) if step.output.is_empty() => {
                        step.command.push('\n');
                        step.command.push_str(more);
                    }
                    _ => {
                        step.output.push_str(line);
                        step.output.push('\n');
                    }
                }
            }
            continue;
        }
        let info = line[fence.len()..].trim();
        if other.is_none() && fence.len() >= 3 && info.split(' ').next() == Some("console") {
            let needs_inspector = info.split(' ').any(|word| word == "inspector");
            open =
                Some(Block { line: index + 1, needs_inspector, opening: line.to_owned(), steps: Vec::new() });
            continue;
        }
        match other {
            Some(opening) if fence == opening && info.is_empty() => other = None,
            None if fence.len() >= 3 => other = Some(fence),
            _ => {}
        }
        text.push_str(line);
        text.push('\n');
    }
    parts.push(Part::Text(text));
    parts
}

/// Puts a page together again.
pub(super) fn written(parts: &[Part]) -> String {
    let mut page = String::new();
    for part in parts {
        match part {
            Part::Text(text) => page.push_str(text),
            Part::Block(block) => {
                page.push_str(&block.opening);
                page.push('\n');
                for step in &block.steps {
                    let mut mark = "$ ";
                    for line in step.command.lines() {
                        page.push_str(format!("{mark}{line}").trim_end());
                        page.push('\n');
                        mark = "> ";
                    }
                    page.push_str(&step.output);
                }
            }
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{Part, parse, written};

    const PAGE: &str = "# Page\n\n```sh\n$ not this\n```\n\n````md\n```console\n$ nor this\n```\n````\n\n```console\n$ cat > a <<'END'\n> one\n>\n> two\n> END\n$ cat a\none\n\ntwo\n$ false\n[exit 1]\n```\n\nEnd.\n\n```console inspector\n$ look\n```\n";

    #[test]
    fn a_page_is_taken_apart_and_put_together_again() {
        let mut parts = parse(PAGE);
        assert_eq!(written(&parts), PAGE);
        let blocks: Vec<_> = parts.iter_mut().filter_map(Part::block).collect();
        let steps: Vec<_> = blocks
            .iter()
            .flat_map(|block| block.steps.iter().map(|step| (step.line, &*step.command, &*step.output)))
            .collect();
        assert_eq!(
            steps,
            [
                (14, "cat > a <<'END'\none\n\ntwo\nEND", ""),
                (19, "cat a", "one\n\ntwo\n"),
                (23, "false", "[exit 1]\n"),
                (30, "look", ""),
            ]
        );
        assert_eq!(blocks.iter().map(|block| block.needs_inspector).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn a_block_that_is_not_closed_is_text_that_is_not_played() {
        let parts = parse("text\n```console\n$ one\n");
        assert_eq!(parts, [Part::Text("text\n".to_owned())]);
    }
}
