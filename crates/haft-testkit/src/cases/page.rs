use super::content::Form;
use super::scan::{Block, Item, Malformed, scan};
use crate::tree::is_inside;
use serde_json::Value;
use std::ops::Range;

/// A page, read.
#[derive(Debug, PartialEq)]
pub(super) struct Page {
    /// What stands in the tree of every case.
    pub(super) shared: Vec<Fixture>,
    pub(super) cases: Vec<Case>,
}

/// What stands behind one `##` heading.
#[derive(Debug, PartialEq)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) tree: Vec<Fixture>,
    pub(super) steps: Vec<Step>,
}

/// An entry of a tree.
#[derive(Debug, PartialEq)]
pub(super) enum Fixture {
    File { path: String, bytes: Vec<u8>, executable: bool },
    Directory { path: String },
    Link { path: String, target: String },
}

/// A call and what is expected of it.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) tool: String,
    pub(super) input: Value,
    /// Where the call's block ends in the page.
    pub(super) end: usize,
    pub(super) reply: Option<Reply>,
    pub(super) after: Vec<After>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Reply {
    pub(super) status: String,
    pub(super) text: String,
    pub(super) written: Written,
}

#[derive(Debug, PartialEq)]
pub(super) struct After {
    pub(super) path: String,
    /// The file's content; nothing where there is to be no file.
    pub(super) content: Option<Vec<u8>>,
    pub(super) written: Written,
}

/// How an expectation is written in the page.
#[derive(Debug, PartialEq)]
pub(super) struct Written {
    pub(super) line: usize,
    pub(super) span: Range<usize>,
    pub(super) ticks: usize,
    pub(super) info: String,
    pub(super) body: String,
}

impl Page {
    /// Reads a page.
    pub(super) fn parse(text: &str) -> Result<Self, Malformed> {
        let mut page = Self { shared: Vec::new(), cases: Vec::new() };
        let mut titled = false;
        for item in scan(text)? {
            match item {
                Item::Heading { line, level: 1, .. } if titled => {
                    return Err(Malformed::new(line, "a page has one title"));
                }
                Item::Heading { line, level: 2, text } => page.open(line, text)?,
                Item::Heading { level, .. } => titled |= level == 1,
                Item::Block(block) => page.take(&block)?,
            }
        }
        page.finished()?;
        match (titled, page.cases.is_empty()) {
            (false, _) => Err(Malformed::new(1, "a page starts with a title, `# …`")),
            (true, true) => Err(Malformed::new(1, "a page has at least one case, `## …`")),
            (true, false) => Ok(page),
        }
    }

    /// Starts a case.
    fn open(&mut self, line: usize, name: &str) -> Result<(), Malformed> {
        self.finished()?;
        if name.is_empty() {
            return Err(Malformed::new(line, "a case needs a name"));
        }
        if self.cases.iter().any(|case| case.name == name) {
            return Err(Malformed::new(line, format!("there is a case `{name}` already")));
        }
        self.cases.push(Case { name: name.to_owned(), line, tree: Vec::new(), steps: Vec::new() });
        Ok(())
    }

    /// Checks that the last case is whole.
    fn finished(&self) -> Result<(), Malformed> {
        match self.cases.last() {
            Some(case) if case.steps.is_empty() => {
                Err(Malformed::new(case.line, format!("the case `{}` has no call", case.name)))
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, block: &Block<'_>) -> Result<(), Malformed> {
        let (word, rest) = match block.info.split_once(char::is_whitespace) {
            Some((word, rest)) => (word, rest.trim()),
            None => (block.info, ""),
        };
        let failed = |reason: String| Malformed::new(block.line, reason);
        match word {
            "text" if rest.is_empty() => Ok(()),
            "file" | "dir" | "link" => {
                let fixture = fixture(word, rest, block.body).map_err(failed)?;
                match self.cases.last_mut() {
                    None => self.shared.push(fixture),
                    Some(case) if case.steps.is_empty() => case.tree.push(fixture),
                    Some(_) => {
                        return Err(failed("the tree of a case stands before its first call".to_owned()));
                    }
                }
                Ok(())
            }
            "call" => self.take_call(rest, block),
            "reply" => {
                let step = self.last_step("a reply", block)?;
                if step.reply.is_some() || !step.after.is_empty() {
                    return Err(failed("a call has one reply, which stands right behind it".to_owned()));
                }
                if rest.is_empty() {
                    return Err(failed("a reply has a status: `reply ok`, `reply denied`, …".to_owned()));
                }
                let text = block.body.strip_suffix('\n').unwrap_or(block.body).to_owned();
                step.reply = Some(Reply { status: rest.to_owned(), text, written: written(block) });
                Ok(())
            }
            "after" => {
                let (path, content) = after(rest, block.body).map_err(failed)?;
                let step = self.last_step("an `after` block", block)?;
                step.after.push(After { path, content, written: written(block) });
                Ok(())
            }
            _ => Err(failed(format!(
                "`{}` is not a block of a page; use file, dir, link, call, reply or after, or `text` for prose",
                block.info
            ))),
        }
    }

    fn take_call(&mut self, tool: &str, block: &Block<'_>) -> Result<(), Malformed> {
        if tool.is_empty() || tool.contains(char::is_whitespace) {
            return Err(Malformed::new(block.line, "a call names one tool: `call read_file`"));
        }
        let input = serde_json::from_str(block.body).map_err(|error| {
            Malformed::new(block.line + error.line(), format!("the arguments are not JSON: {error}"))
        })?;
        let Some(case) = self.cases.last_mut() else {
            return Err(Malformed::new(block.line, "a call stands behind a `##` heading"));
        };
        case.steps.push(Step {
            line: block.line,
            tool: tool.to_owned(),
            input,
            end: block.span.end,
            reply: None,
            after: Vec::new(),
        });
        Ok(())
    }

    fn last_step(&mut self, what: &str, block: &Block<'_>) -> Result<&mut Step, Malformed> {
        let step = self.cases.last_mut().and_then(|case| case.steps.last_mut());
        step.ok_or_else(|| Malformed::new(block.line, format!("{what} stands behind a call")))
    }
}

fn written(block: &Block<'_>) -> Written {
    Written {
        line: block.line,
        span: block.span.clone(),
        ticks: block.ticks,
        info: block.info.to_owned(),
        body: block.body.to_owned(),
    }
}

fn fixture(kind: &str, rest: &str, body: &str) -> Result<Fixture, String> {
    let mut words = rest.split_ascii_whitespace();
    let path = inside(words.next())?;
    if kind != "file" && !body.is_empty() {
        return Err(format!("a `{kind}` block is empty"));
    }
    let fixture = match kind {
        "dir" => Fixture::Directory { path },
        "link" => {
            let target = words.next().ok_or("a link has a target: `link PATH TARGET`")?;
            Fixture::Link { path, target: target.to_owned() }
        }
        _ => {
            let (mut form, mut executable) = (Form::default(), false);
            for flag in words.by_ref() {
                if flag == "executable" {
                    executable = true;
                } else if !form.take(flag) {
                    return Err(unknown_flag(flag, "no-newline, crlf, hex or executable"));
                }
            }
            Fixture::File { path, bytes: form.decode(body)?, executable }
        }
    };
    match words.next() {
        None => Ok(fixture),
        Some(word) => Err(format!("`{word}` is one word too many")),
    }
}

fn after(rest: &str, body: &str) -> Result<(String, Option<Vec<u8>>), String> {
    let mut words = rest.split_ascii_whitespace();
    let path = inside(words.next())?;
    let flags: Vec<&str> = words.collect();
    if flags == ["absent"] {
        return if body.is_empty() {
            Ok((path, None))
        } else {
            Err("the block of an absent file is empty".to_owned())
        };
    }
    let mut form = Form::default();
    if let Some(flag) = flags.into_iter().find(|flag| !form.take(flag)) {
        return Err(unknown_flag(flag, "no-newline, crlf or hex, or absent alone"));
    }
    Ok((path, Some(form.decode(body)?)))
}

fn inside(path: Option<&str>) -> Result<String, String> {
    match path {
        Some(path) if is_inside(path) => Ok(path.to_owned()),
        Some(path) => Err(format!("a path of the tree is relative and has no `..`: `{path}` is not")),
        None => Err("the block names no path".to_owned()),
    }
}

fn unknown_flag(flag: &str, flags: &str) -> String {
    format!("`{flag}` is not a flag here; use {flags}")
}
