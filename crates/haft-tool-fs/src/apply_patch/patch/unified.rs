//! Unified diffs, as git writes them and as `diff` does.

use super::{FilePatch, Hunk, HunkLine, Kind};

/// What the heads of a file say.
#[derive(Debug, Default)]
struct Head {
    line: usize,
    /// Whether `diff --git` starts it.
    is_git: bool,
    /// The two paths of `diff --git`, if they can be told apart.
    git: Option<(String, String)>,
    old: Option<String>,
    new: Option<String>,
    renamed: Option<(String, String)>,
    is_new: bool,
    is_deleted: bool,
    executable: Option<bool>,
    hunks: Vec<Hunk>,
}

pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, String> {
    let mut files = Vec::new();
    let mut head = Head::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let number = at + 1;
        at += 1;
        let rest = |prefix: &str| line.strip_prefix(prefix).map(|rest| rest.trim_end().to_owned());
        if let Some(paths) = rest("diff --git ") {
            files.extend(std::mem::take(&mut head).finish()?);
            head = Head { line: number, is_git: true, git: git_paths(&paths), ..Head::default() };
        } else if line.starts_with("--- ") && lines.get(at).is_some_and(|next| next.starts_with("+++ ")) {
            if head.old.is_some() || !head.is_git {
                files.extend(std::mem::take(&mut head).finish()?);
                head.line = number;
            }
            head.old = Some(path(&line[4..]));
            head.new = Some(path(&lines[at][4..]));
            at += 1;
        } else if line.starts_with("@@") && (head.old.is_some() || line.starts_with("@@ -")) {
            if head.old.is_none() {
                return Err(format!("the hunk at line {number} has no `--- path` and `+++ path` above it"));
            }
            let (hunk, next) = hunk(lines, at - 1)?;
            head.hunks.push(hunk);
            at = next;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(format!(
                "line {number} is of a binary patch, which is not made here; write the file another way"
            ));
        } else if !head.is_git {
            // Whatever stands above a diff is not part of it.
        } else if let Some(mode) = rest("new file mode ") {
            (head.is_new, head.executable) = (true, is_executable(&mode, number)?.then_some(true));
        } else if let Some(mode) = rest("deleted file mode ") {
            is_executable(&mode, number)?;
            head.is_deleted = true;
        } else if let Some(mode) = rest("new mode ") {
            head.executable = Some(is_executable(&mode, number)?);
        } else if let Some((_, mode)) = rest("index ").as_deref().and_then(|index| index.rsplit_once(' ')) {
            is_executable(mode, number)?;
        } else if let Some(from) = rest("rename from ") {
            head.renamed.get_or_insert_default().0 = from;
        } else if let Some(to) = rest("rename to ") {
            head.renamed.get_or_insert_default().1 = to;
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(format!(
                "line {number} copies a file, which is not made here; add the new file with its content"
            ));
        }
    }
    files.extend(head.finish()?);
    Ok(files)
}

/// Tells of a mode as git writes it whether a file is to be executable; refuses what is no file.
fn is_executable(mode: &str, number: usize) -> Result<bool, String> {
    match mode {
        "120000" => Err(format!(
            "line {number} is of a symbolic link, which is not made or changed here; make it with a command"
        )),
        "160000" => {
            Err(format!("line {number} is of a submodule, which is not made or changed here; use git for it"))
        }
        _ if mode.starts_with("100") && mode.len() == 6 => Ok(mode.ends_with("755")),
        _ => Err(format!("the mode at line {number} is not that of a file; write 100644 or 100755")),
    }
}

impl Head {
    /// Makes of it what happens to the file; nothing where no file was named.
    fn finish(self) -> Result<Option<FilePatch>, String> {
        let Self { line, is_git, git, old, new, renamed, is_new, is_deleted, executable, hunks } = self;
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => stripped(old, new, is_git),
            _ => match (renamed.clone(), git) {
                (Some((from, to)), _) => (Some(from), Some(to)),
                (None, Some((old, new))) => stripped(old, new, true),
                (None, None) if !is_git => return Ok(None),
                (None, None) => {
                    return Err(format!(
                        "the paths at line {line} cannot be told apart; add `---` and `+++`"
                    ));
                }
            },
        };
        let file = |path, kind| Ok(Some(FilePatch { line, path, kind, executable }));
        match (old, new) {
            (None, None) => Err(format!(
                "both paths at line {line} are `/dev/null`; write the path of the file in one of them"
            )),
            (None, Some(path)) => file(path, Kind::Add { content: content(&hunks, line)? }),
            (Some(_), Some(path)) if is_new => file(path, Kind::Add { content: content(&hunks, line)? }),
            (Some(path), None) => file(path, Kind::Delete { hunks }),
            (Some(path), Some(_)) if is_deleted => file(path, Kind::Delete { hunks }),
            (Some(old), Some(new)) => {
                let to = match renamed {
                    Some((_, to)) => Some(to),
                    None if old != new => Some(new),
                    None => None,
                };
                if hunks.is_empty() && to.is_none() && executable.is_none() {
                    return Err(format!(
                        "the file at line {line} has no hunk, and nothing else changes; give its hunks, or leave it out"
                    ));
                }
                file(old, Kind::Update { hunks, to })
            }
        }
    }
}

/// Takes the content of a new file out of its hunks.
fn content(hunks: &[Hunk], line: usize) -> Result<String, String> {
    let mut content = String::new();
    for hunk in hunks {
        if !hunk.old().is_empty() {
            return Err(format!(
                "the hunk at line {} is of a new file and has lines that are not added; start each line with `+`",
                hunk.line
            ));
        }
        for line in hunk.new_lines() {
            content.push_str(line);
            content.push('\n');
        }
        if hunk.unended.1 {
            content.pop();
        }
    }
    if hunks.len() > 1 {
        return Err(format!("the new file at line {line} has more than one hunk; give all its lines in one"));
    }
    Ok(content)
}

/// Takes the path out of a line of a head: without the time behind a tab, and without quotes.
fn path(text: &str) -> String {
    let text = text.split('\t').next().unwrap_or_default().trim_end();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted),
        None => text.to_owned(),
    }
}

/// Undoes how git writes bytes that are not plain: `\303\251`, `\t`, `\"`.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let octal = rest
            .get(..3)
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (octal, rest.split_first()) {
            (Some(byte), _) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            (None, Some((escaped, behind))) => {
                bytes.push(match escaped {
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'r' => b'\r',
                    other => *other,
                });
                rest = behind;
            }
            (None, None) => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Takes the two paths of `diff --git`, which are not divided by anything that no path has.
fn git_paths(text: &str) -> Option<(String, String)> {
    if text.starts_with('"') {
        return None;
    }
    // Without a rename both are the same but for the letter in front.
    let half = text.len() / 2;
    let (old, new) = (text.get(..half)?, text.get(half + 1..)?);
    let same = old.split_once('/')?.1 == new.split_once('/')?.1;
    if same {
        return Some((old.to_owned(), new.to_owned()));
    }
    let (old, new) = text.split_once(' ')?;
    (!new.contains(' ')).then(|| (old.to_owned(), new.to_owned()))
}

/// Takes `a/` and `b/` off; nothing is left of `/dev/null`.
fn stripped(old: String, new: String, is_git: bool) -> (Option<String>, Option<String>) {
    let there = |path: String| (path != "/dev/null").then_some(path);
    let (old, new) = (there(old), there(new));
    let prefixed = |path: &Option<String>, prefixes: [&str; 2]| {
        path.as_ref().is_none_or(|path| prefixes.iter().any(|prefix| path.starts_with(prefix)))
    };
    let is_prefixed = is_git || prefixed(&old, ["a/", "i/"]) && prefixed(&new, ["b/", "w/"]);
    if !is_prefixed {
        return (old, new);
    }
    let strip = |path: Option<String>| {
        path.map(|path| match path.split_once('/') {
            Some((prefix, rest)) if prefix.len() == 1 => rest.to_owned(),
            _ => path,
        })
    };
    (strip(old), strip(new))
}

/// Takes a hunk that starts at this line; says where it ends.
fn hunk(lines: &[&str], start: usize) -> Result<(Hunk, usize), String> {
    let number = start + 1;
    // Without numbers it is found by what is in it, as one of the other grammar.
    let (mut hunk, old_count, new_count) = match ranges(lines[start]) {
        Some((at, old, new)) => (Hunk { line: number, at: Some(at), ..Hunk::default() }, old, new),
        None => (Hunk { line: number, anchors: anchor(lines[start]), ..Hunk::default() }, 0, 0),
    };
    let mut next = start + 1;
    let (mut old, mut new) = (0, 0);
    while let Some(line) = lines.get(next) {
        let is_whole = old >= old_count && new >= new_count;
        let starts_other = line.starts_with("diff --git ")
            || line.starts_with("@@")
            || line.starts_with("--- ") && lines.get(next + 1).is_some_and(|line| line.starts_with("+++ "));
        // Within its counts a line that looks like the head of a file can be one that is removed.
        if starts_other && (is_whole || !line.starts_with('-')) {
            break;
        }
        let goes_on = match line.as_bytes().first() {
            Some(b'-') => *line != "-- ",
            Some(b' ' | b'+' | b'\\') => true,
            // An empty line that lost its sign, if the hunk goes on behind it.
            None => {
                let is_of_hunk = |line: &&str| line.starts_with([' ', '+', '-']) && !line.starts_with("--- ");
                lines.get(next + 1).is_some_and(|line| is_of_hunk(line) && *line != "-- ")
            }
            Some(_) => false,
        };
        if is_whole && !goes_on {
            break;
        }
        if !hunk.take(line) {
            break;
        }
        match line.as_bytes().first() {
            Some(b'-') => old += 1,
            Some(b'+') => new += 1,
            Some(b'\\') => {}
            _ => (old, new) = (old + 1, new + 1),
        }
        next += 1;
    }
    if next == lines.len() && (old < old_count || new < new_count) {
        return Err(format!(
            "the hunk at line {number} says that it has {old_count} old and {new_count} new lines but ends after {old} and {new}, \
             so the patch may be cut off; give it whole, with the right counts"
        ));
    }
    if old == 0 && new == 0 {
        return Err(format!("the hunk at line {number} has no lines; give its lines, or leave it out"));
    }
    let touches = |line: &HunkLine| !matches!(line, HunkLine::Keep(_));
    if !hunk.lines.iter().any(touches) && hunk.unended.0 == hunk.unended.1 {
        return Err(format!("the hunk at line {number} changes nothing; leave it out"));
    }
    Ok((hunk, next))
}

/// Takes the line that stands above a hunk out of `@@ line @@`.
fn anchor(line: &str) -> Vec<String> {
    let text = line.trim_matches('@').trim();
    if text.chars().any(char::is_alphanumeric) { vec![text.to_owned()] } else { Vec::new() }
}

/// Reads `@@ -start,count +start,count @@`.
fn ranges(line: &str) -> Option<(u64, u64, u64)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((at, old), (_, new)) = (range(old)?, range(new)?);
    Some((at, old, new))
}
