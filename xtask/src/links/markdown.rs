//! As much of Markdown as it takes to find links and headings.

use std::collections::BTreeSet;

/// One link of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The line it stands on, 1-based.
    pub(super) line: usize,
    pub(super) target: String,
}

/// Finds the inline links, images, reference definitions and HTML links of a page, outside code and comments.
pub(super) fn links(page: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (number, line) in prose(page) {
        let mut targets = inline_targets(&line);
        targets.extend(definition_target(&line));
        targets.extend(attribute_targets(&line));
        found.extend(targets.into_iter().map(|target| Link { line: number, target: target.to_owned() }));
    }
    found
}

/// Lists what a link can name in a page: its headings as GitHub writes their anchors, and explicit ids.
pub(super) fn anchors(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (line, is_code) in fenced(page) {
        if is_code {
            continue;
        }
        if let Some(heading) = heading(line) {
            let slug = slug(heading);
            let mut unique = slug.clone();
            let mut count = 0_usize;
            while !found.insert(unique) {
                count += 1;
                unique = format!("{slug}-{count}");
            }
        }
        found.extend(["id=\"", "name=\""].iter().flat_map(|key| quoted_after(line, key)).map(str::to_owned));
    }
    found
}

/// The text of a `#` heading; underlined headings are not used in this repository.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start().trim_start_matches('#');
    let level = line.trim_start().len() - text.len();
    ((1..=6).contains(&level) && text.starts_with([' ', '\t']))
        .then(|| text.trim().trim_end_matches('#').trim())
}

/// Writes a heading as GitHub does in its anchor: lower case, `-` for spaces, no punctuation, links by their text.
fn slug(heading: &str) -> String {
    let mut text = heading.to_owned();
    while let Some((before, target, after)) = split_link(&text) {
        text = format!("{before}{}{after}", target.0);
    }
    text.chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ if character.is_alphanumeric() => Some(character),
            _ => None,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Splits a text at its first inline link: before, (text, target), after.
fn split_link(text: &str) -> Option<(&str, (&str, &str), &str)> {
    let middle = text.find("](")?;
    let open = text[..middle].rfind('[')?;
    let (target, after) = destination(&text[middle + 2..])?;
    Some((&text[..open], (&text[open + 1..middle], target), after))
}

fn inline_targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find("](") {
        rest = &rest[start + 2..];
        if let Some((target, _)) = destination(rest) {
            found.push(target);
        }
    }
    found
}

/// Reads the destination behind `](` and hands back what follows the closing parenthesis.
fn destination(text: &str) -> Option<(&str, &str)> {
    let trimmed = text.trim_start();
    if let Some(bracketed) = trimmed.strip_prefix('<') {
        let (target, rest) = bracketed.split_once('>')?;
        return Some((target, rest.split_once(')')?.1));
    }
    let mut depth = 0_usize;
    for (index, character) in trimmed.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some((&trimmed[..index], &trimmed[index + 1..])),
            ')' => depth -= 1,
            ' ' | '\t' => {
                // A title follows, which ends with the link.
                let after = trimmed[index..].split_once(')')?.1;
                return Some((&trimmed[..index], after));
            }
            _ => {}
        }
    }
    None
}

/// The target of `[name]: target`, except for footnotes, which hold text.
fn definition_target(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    if name.starts_with('^') || name.contains(']') {
        return None;
    }
    let target = rest.split_whitespace().next()?;
    Some(target.strip_prefix('<').and_then(|target| target.strip_suffix('>')).unwrap_or(target))
}

fn attribute_targets(line: &str) -> Vec<&str> {
    ["href=\"", "src=\""].iter().flat_map(|key| quoted_after(line, key)).collect()
}

fn quoted_after<'a>(line: &'a str, key: &str) -> Vec<&'a str> {
    line.split(key).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect()
}

/// Lists the lines of a page with their numbers, outside fences, and without code spans and comments.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut in_comment = false;
    let mut found = Vec::new();
    for (index, (line, is_code)) in fenced(page).into_iter().enumerate() {
        if !is_code {
            found.push((index + 1, without_code(&without_comments(line, &mut in_comment))));
        }
    }
    found
}

/// Marks each line of a page as code if it belongs to a fence.
fn fenced(page: &str) -> Vec<(&str, bool)> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for line in page.lines() {
        let run = fence_run(line);
        if let Some(open) = fence {
            found.push((line, true));
            if run.is_some_and(|run| run.starts_with(open) && line.trim() == run) {
                fence = None;
            }
        } else {
            found.push((line, run.is_some()));
            fence = run;
        }
    }
    found
}

/// The three or more backticks or tildes that a line starts with.
fn fence_run(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| "`~".contains(*mark))?;
    let length = line.chars().take_while(|character| *character == mark).count();
    // Backticks that are closed on their own line are a code span.
    let is_span = mark == '`' && line[length..].contains('`');
    (length >= 3 && !is_span).then(|| &line[..length])
}

/// Cuts HTML comments out of a line; `in_comment` carries an open one to the next line.
fn without_comments(line: &str, in_comment: &mut bool) -> String {
    let mut kept = String::new();
    let mut rest = line;
    loop {
        if *in_comment {
            let Some((_, after)) = rest.split_once("-->") else { return kept };
            *in_comment = false;
            rest = after;
        }
        let Some((before, after)) = rest.split_once("<!--") else { return kept + rest };
        kept.push_str(before);
        *in_comment = true;
        rest = after;
    }
}

/// Cuts code spans out of a line: text between two runs of backticks of one length.
fn without_code(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        let length = from.chars().take_while(|character| *character == '`').count();
        let (run, after) = from.split_at(length);
        kept.push_str(before);
        rest = if let Some(end) = closing(after, length) {
            &after[end..]
        } else {
            kept.push_str(run);
            after
        };
    }
    kept + rest
}

/// Finds where the run of exactly `length` backticks that closes a code span ends, in bytes.
fn closing(text: &str, length: usize) -> Option<usize> {
    let mut position = 0;
    while let Some(found) = text[position..].find('`') {
        let start = position + found;
        let run = text[start..].chars().take_while(|character| *character == '`').count();
        position = start + run;
        if run == length {
            return Some(position);
        }
    }
    None
}
