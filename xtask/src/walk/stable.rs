//! What differs from one play to the next: ids, places, ports and times, and what stands for them on the page.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::Context as _;

/// The ports that pages name.
const PORTS: [&str; 2] = ["4010", "8765"];

/// Ends long ids.
const REST: &str = "50f8877d";

/// Knows what stands for what.
#[derive(Debug)]
pub(super) struct Stable {
    home: String,
    /// A port as pages name it, and the one that is free.
    ports: Vec<(String, String)>,
    /// Each id in the order in which they are first printed, with what stands for it.
    ids: Vec<(String, String)>,
}

impl Stable {
    /// Finds free ports.
    pub(super) fn new(home: String) -> anyhow::Result<Self> {
        // They are held together, so that no two are the same.
        let mut held = Vec::new();
        let mut ports = Vec::new();
        for port in PORTS {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port")?;
            let free = listener.local_addr().context("cannot find a free port")?.port();
            ports.push((format!("127.0.0.1:{port}"), format!("127.0.0.1:{free}")));
            held.push(listener);
        }
        Ok(Self { home, ports, ids: Vec::new() })
    }

    /// Makes of a command of the page the one that is run.
    pub(super) fn to_run(&self, command: &str) -> String {
        let mut command = command.to_owned();
        for (shown, real) in &self.ports {
            command = command.replace(shown, real);
        }
        with_words(&command, |word| {
            let known = self.ids.iter().find(|(_, shown)| shown == word);
            known.map(|(real, _)| real.clone())
        })
    }

    /// Makes of what was printed what the page shows.
    pub(super) fn shown(&mut self, printed: &str) -> String {
        let mut shown = printed.replace(&self.home, "/home/you");
        for (written, real) in &self.ports {
            shown = shown.replace(real, written);
        }
        let ids = &mut self.ids;
        let shown = with_words(&shown, |word| {
            if !is_id(word) {
                return None;
            }
            // A long id begins like the short one, and what follows is said nowhere else.
            let (id, rest) = if word.contains('-') { (word, "") } else { word.split_at(8) };
            let rest = if rest.is_empty() { "" } else { REST };
            if let Some((_, shown)) = ids.iter().find(|(real, _)| real == id) {
                return Some(format!("{shown}{rest}"));
            }
            let shown = stand_in(id, ids.len());
            ids.push((id.to_owned(), shown.clone()));
            Some(format!("{shown}{rest}"))
        });
        TIMES.iter().fold(shown, |shown, unit| with_times(&shown, unit))
    }
}

/// What stands behind a time.
const TIMES: [&str; 2] = [" ms", " s ago"];

/// Puts others in the place of words, which are letters, digits and `-`.
fn with_words(text: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_of_word) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|letter| !is_of_word(letter)).unwrap_or(from.len()));
        changed.push_str(before);
        changed.push_str(other(word).as_deref().unwrap_or(word));
        rest = after;
    }
    changed + rest
}

/// Tells whether a word is the id of a run, of what was undone, or of a call that waits, short or whole.
fn is_id(word: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match word.split('-').collect::<Vec<_>>()[..] {
        ["run" | "undo", time, process] => {
            (9..=13).contains(&time.len())
                && (1..=6).contains(&process.len())
                && is_hex(time)
                && is_hex(process)
        }
        [one] => matches!(one.len(), 8 | 16) && is_hex(one),
        _ => false,
    }
}

/// Has every number before a unit be the same.
fn with_times(text: &str, unit: &str) -> String {
    let mut parts = text.split(unit);
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = changed.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').len();
        if number < changed.len() {
            changed.truncate(number);
            changed.push('3');
        }
        changed.push_str(unit);
        changed.push_str(part);
    }
    changed
}

/// Looks like an id, and is the same in each play.
fn stand_in(id: &str, number: usize) -> String {
    let number = u32::try_from(number + 1).unwrap_or(u32::MAX).wrapping_mul(0x9e37_79b9);
    match id.split_once('-') {
        Some((kind, _)) => format!("{kind}-1a2{number:08x}-{:x}", number >> 16),
        None => format!("{number:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Stable;

    #[test]
    fn what_differs_is_shown_alike_and_run_as_it_is() {
        let mut first = Stable::new("/tmp/one".to_owned()).unwrap();
        let mut second = Stable::new("/tmp/two".to_owned()).unwrap();
        let shown = first.shown(
            "/tmp/one/a waits as 6dd3cb99, 6dd3cb9911111111 in run-1a2132b1a02-6611, 12 s ago, took 7 ms\n",
        );
        let again = second.shown(
            "/tmp/two/a waits as 00000001, 0000000122222222 in run-1a2132b1b77-1, 0 s ago, took 1.5 ms\n",
        );
        assert_eq!(
            shown,
            "/home/you/a waits as 9e3779b9, 9e3779b950f8877d in run-1a23c6ef372-3c6e, 3 s ago, took 3 ms\n"
        );
        assert_eq!(again, shown);
        assert_eq!(
            first.to_run("haft resume run-1a23c6ef372-3c6e; haft approvals show 9e3779b9 ffffffff"),
            "haft resume run-1a2132b1a02-6611; haft approvals show 6dd3cb99 ffffffff"
        );
        let run = first.to_run("curl 127.0.0.1:4010");
        assert_ne!(run, "curl 127.0.0.1:4010");
        assert_eq!(first.shown(&run), "curl 127.0.0.1:4010");
    }
}
