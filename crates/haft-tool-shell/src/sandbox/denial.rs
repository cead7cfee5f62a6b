//! What a script was kept from, read from what it printed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use haft_process::sandbox::Confinement;
use haft_workdir::Shown;

/// How many denials are told, and how much of the end of an output is searched, in bytes.
const MOST: usize = 3;
const SEARCHED: usize = 16 * 1024;

/// What programs say of files that they may not have.
const OF_FILES: [&str; 4] =
    ["permission denied", "operation not permitted", "read-only file system", "device or resource busy"];

/// What programs say of hosts that they do not reach.
const OF_HOSTS: [&str; 7] = [
    "could not resolve",
    "name or service not known",
    "temporary failure in name resolution",
    "network is unreachable",
    "failed to lookup address",
    "getaddrinfo",
    "dns error",
];

/// Says what the sandbox denied, as far as it shows, and how to ask for it.
pub(super) fn explain(output: &str, confinement: &Confinement, directory: &Path, root: &Path) -> String {
    let start = output.len().saturating_sub(SEARCHED);
    let start = (start..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    let mut denied: BTreeSet<String> = BTreeSet::new();
    let mut has_no_network = false;
    for line in output[start..].lines() {
        let lower = line.to_lowercase();
        if OF_FILES.iter().any(|text| lower.contains(text)) {
            denied.extend(paths(line).filter_map(|path| access_to(&path, confinement, directory, root)));
        }
        if OF_HOSTS.iter().any(|text| lower.contains(text)) {
            has_no_network = true;
            denied.extend(hosts(line).map(|host| format!("connect {host}:443")));
        }
    }
    let mut told = String::new();
    let asked: Vec<&String> = denied.iter().take(MOST).collect();
    if !asked.is_empty() {
        let list = asked.iter().map(|access| format!("{:?}", Shown::new(access).to_string()));
        let list: Vec<String> = list.collect();
        let list = list.join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(
            told,
            "[the sandbox kept the command from this; if it is needed, run it again with \"access\": [{list}], which the \
             user is asked about]"
        );
    } else if has_no_network {
        told.push_str(
            "[the sandbox gives the command no network; if it is needed, run it again with \"access\": [\"connect \
             HOST:PORT\"], which the user is asked about]\n",
        );
    }
    told
}

/// The access that is missing to a path, if it is the sandbox that denies it.
fn access_to(path: &str, confinement: &Confinement, directory: &Path, root: &Path) -> Option<String> {
    let full = lexically(&directory.join(path));
    let full = full.canonicalize().unwrap_or(full);
    let mode = if !confinement.may_read(&full) {
        // What is not there was to be made.
        if full.exists() { "read" } else { "write" }
    } else if !confinement.may_write(&full) {
        // What may be read and was still denied was to be written.
        "write"
    } else {
        return None;
    };
    // What programs run from is there for all, and a device is no file.
    if full.starts_with("/proc") || full.starts_with("/sys") || full.starts_with("/dev") {
        return None;
    }
    let shown = full.strip_prefix(root).unwrap_or(&full).to_str()?;
    (!shown.is_empty()).then(|| format!("{mode} {shown}"))
}

/// Finds what could be paths in a line: what stands in quotes, and words with a slash or before a colon.
fn paths(line: &str) -> impl Iterator<Item = String> {
    let quoted = [('\'', '\''), ('‘', '’'), ('"', '"'), ('`', '`'), ('“', '”')].into_iter().flat_map(
        move |(open, close)| {
            let mut found = Vec::new();
            let mut rest = line;
            while let Some((_, after)) = rest.split_once(open) {
                let Some((inside, after)) = after.split_once(close) else { break };
                found.push(inside.to_owned());
                rest = after;
            }
            found
        },
    );
    let parts = line.split(": ").map(|part| part.trim().to_owned());
    let words =
        line.split_whitespace().map(|word| word.trim_end_matches([':', ',', '.', ')', ']']).to_owned());
    let words = words.filter(|word| word.contains('/') && !word.contains("://"));
    let is_path = |text: &String| {
        !text.is_empty()
            && text.len() < 4096
            && !text.contains(['\n', '\'', '"', '`', '‘'])
            && (text.contains('/') || !text.contains(' ') && text.contains('.'))
    };
    quoted
        .chain(parts.filter(|part| !part.contains(' ') || part.starts_with('/')))
        .chain(words)
        .filter(is_path)
}

/// Finds the names of hosts in a line.
fn hosts(line: &str) -> impl Iterator<Item = &str> {
    let is_separator = |character: char| {
        character.is_whitespace() || matches!(character, '\'' | '"' | '`' | '(' | ')' | ',' | '/' | '‘' | '’')
    };
    let words = line.split(is_separator).map(|word| word.trim_end_matches([':', '.', ';']));
    words.filter(|word| {
        let is_name = word.chars().all(|character| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '-' | '.')
        });
        let last = word.rsplit('.').next().unwrap_or_default();
        is_name
            && word.contains('.')
            && last.len() >= 2
            && last.chars().all(|character| character.is_ascii_alphabetic())
            && !matches!(last, "py" | "rs" | "js" | "go" | "c" | "rb" | "gaierror" | "error")
    })
}

/// Takes `.` and `..` out of a path without looking at the file system.
fn lexically(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "reads well in the tests")]
    fn check(output: &str, expected: Expect) {
        let confinement =
            Confinement::new().read("/usr").read("/etc").write("/work").protect("/work/.git/config");
        expected.assert_eq(&explain(output, &confinement, Path::new("/work/src"), Path::new("/work")));
    }

    #[test]
    fn a_path_is_found_as_shells_and_programs_write_it() {
        for line in [
            "bash: line 1: /etc/haft-x: Permission denied",
            "touch: cannot touch '/etc/haft-x': Permission denied",
            "mkdir: cannot create directory ‘/etc/haft-x’: Permission denied",
            "PermissionError: [Errno 13] Permission denied: '/etc/haft-x'",
            "error: failed to open /etc/haft-x: Permission denied (os error 13)",
            "Error: EACCES: permission denied, open '/etc/haft-x'",
        ] {
            check(
                line,
                expect![[r#"
                [the sandbox kept the command from this; if it is needed, run it again with "access": ["write /etc/haft-x"], which the user is asked about]
            "#]],
            );
        }
    }

    #[test]
    fn a_protected_place_is_named_from_the_working_directory() {
        check(
            "error: could not lock config file ../.git/config: Read-only file system",
            expect![[r#"
            [the sandbox kept the command from this; if it is needed, run it again with "access": ["write .git/config"], which the user is asked about]
        "#]],
        );
    }

    #[test]
    fn what_the_sandbox_allows_was_denied_by_somebody_else() {
        check("cat: ./private.txt: Permission denied", expect![""]);
        check("cat: /dev/mem: Permission denied", expect![""]);
    }

    #[test]
    fn a_host_is_found_and_where_none_is_named_there_is_no_network() {
        check(
            "curl: (6) Could not resolve host: example.org",
            expect![[r#"
            [the sandbox kept the command from this; if it is needed, run it again with "access": ["connect example.org:443"], which the user is asked about]
        "#]],
        );
        check(
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            expect![[r#"
            [the sandbox gives the command no network; if it is needed, run it again with "access": ["connect HOST:PORT"], which the user is asked about]
        "#]],
        );
    }

    #[test]
    fn other_failures_are_left_alone() {
        check("error[E0425]: cannot find value `x` in this scope", expect![""]);
        check("", expect![""]);
    }
}
