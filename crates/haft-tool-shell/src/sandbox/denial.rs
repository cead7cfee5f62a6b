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

/// What they say of what is not there for them.
const OF_HIDDEN_FILES: &str = "no such file or directory";

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

/// Says what the sandbox denied, as far as it shows, and how to ask for it; `hides` says that what may not be read is not there for
/// a program.
pub(super) fn explain(
    output: &str,
    (confinement, hides): (&Confinement, bool),
    directory: &Path,
    root: &Path,
) -> String {
    let start = output.len().saturating_sub(SEARCHED);
    let start = (start..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    let mut denied: BTreeSet<String> = BTreeSet::new();
    let mut has_no_network = false;
    for line in output[start..].lines() {
        let lower = line.to_lowercase();
        if OF_FILES.iter().any(|text| lower.contains(text)) {
            denied.extend(paths(line).filter_map(|path| access_to(&path, confinement, directory, root)));
        }
        if lower.contains(OF_HIDDEN_FILES) {
            let is_hidden = |path: &String| {
                let path = directory.join(path);
                let is_to_be_made = |above: &Path| hides && above.is_dir() && !confinement.may_read(above);
                path.exists() || path.parent().is_some_and(is_to_be_made)
            };
            let access = |path: String| access_to(&path, confinement, directory, root);
            let missing = paths(line).filter(is_hidden).filter_map(access);
            denied.extend(missing.filter(|access| hides || access.starts_with("read ")));
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

/// Finds what could be paths in a line: what a shell names, what stands in quotes, and words with a slash or before a colon.
fn paths(line: &str) -> impl Iterator<Item = String> {
    let of_shell = said_by_shell(line);
    let line = of_shell.unwrap_or(line);
    let named = of_shell.and_then(|said| said.rsplit(": ").nth(1)).map(|what| {
        let created = what.strip_prefix("cannot create ").or_else(|| what.strip_prefix("cannot open "));
        created.unwrap_or(what).to_owned()
    });
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
    let found = quoted.chain(parts.filter(|part| !part.contains(' ') || part.starts_with('/'))).chain(words);
    named.into_iter().chain(found.filter(is_path))
}

/// Gives what a shell says behind its own name, or that of the script, and the line: `bash: line 1: a: Permission denied`.
fn said_by_shell(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(": ")?;
    let (number, said) = rest.split_once(": ")?;
    let number = number.strip_prefix("line ").unwrap_or(number);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(said)
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
        let confinement = (&confinement, false);
        expected.assert_eq(&explain(output, confinement, Path::new("/work/src"), Path::new("/work")));
    }

    #[test]
    fn a_path_is_found_as_shells_and_programs_write_it() {
        for line in [
            "bash: line 1: /etc/haft-x: Permission denied",
            "/bin/look: line 12: /etc/haft-x: Permission denied",
            "/bin/look: 3: cannot create /etc/haft-x: Permission denied",
            "bash: line 1: cd: /etc/haft-x: Permission denied",
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
    fn a_name_without_a_slash_is_found_where_a_shell_says_it() {
        let confinement = Confinement::new().read("/work").read("/bin");
        for line in
            ["bash: line 1: new: Permission denied", "/bin/look: 3: cannot create new: Permission denied"]
        {
            let told = explain(line, (&confinement, false), Path::new("/work/src"), Path::new("/work"));
            assert!(told.contains(r#""access": ["write src/new"]"#), "{line}: {told}");
        }
    }

    #[test]
    fn what_is_not_there_may_be_hidden() {
        // Wherever temporary files are made here, this is what a sandbox hides.
        let place = Path::new("/tmp");
        let line = format!("touch: cannot touch '{}/haft-x': No such file or directory", place.display());
        let confinement = Confinement::new().read("/usr");
        let told = |hides| explain(&line, (&confinement, hides), Path::new("/work"), Path::new("/work"));
        assert_eq!(told(false), "");
        assert!(
            told(true).contains(&format!(
                r#""access": ["write {}/haft-x"]"#,
                place.canonicalize().unwrap().display()
            ))
        );
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
