//! `cargo xtask sizes`: a file stays short enough to be read in one go, and its name says what it holds.

use std::path::Path;

use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Split each file above by the types it holds, or write `// sizes: waived, REASON` in its first \
                      ten lines, and name it after what it holds.";

/// Lines, tests not counted, above which a file is only listed.
const AIM: usize = 400;

const SPLIT: &str =
    "Split some of the files listed above by the types they hold; a waiver does not help here.";

/// How many of a hundred files may be over the aim.
const MOST_LONG: usize = 4;

/// Lines, tests not counted, above which a file is refused.
const LIMIT: usize = 600;

/// The first lines of a file, among which a waiver has to stand.
const WAIVER_LINES: usize = 10;

const WAIVER: &str = "// sizes: waived";

/// Names of files and folders that say nothing about what is in them.
const EMPTY_NAMES: [&str; 4] = ["common", "helpers", "types", "utils"];

/// Checks every source file that is tracked, or that would be with the next `git add`.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let sources = read_sources(workspace)
        .map_err(|error| Failure::from_error(&error, "Run `cargo xtask sizes` inside a git checkout."))?;
    let report = judge(&sources);
    for warning in &report.warnings {
        println!("{warning}");
    }
    let (long, looked_at) = (report.long, sources.iter().filter(|source| !is_test(&source.path)).count());
    Failure::unless_empty(&report.problems, REPAIR)?;
    Failure::unless_empty(&Vec::from_iter(too_many(long, looked_at)), SPLIT)?;
    println!("{looked_at} files looked at, of which {long} are over {AIM} lines; {}", report.longest);
    Ok(Outcome::Done)
}

/// One source file.
#[derive(Debug)]
struct Source {
    /// The path relative to the root, with `/` between its parts.
    path: String,
    text: String,
}

fn read_sources(workspace: &Workspace) -> anyhow::Result<Vec<Source>> {
    let listing = workspace.capture(
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
            "crates",
            "xtask",
            "examples",
        ],
    )?;
    let mut sources = Vec::new();
    for path in String::from_utf8_lossy(&listing).split('\0').filter(|path| is_rust(path)) {
        // The index still lists a file that has just been deleted.
        if let Ok(bytes) = std::fs::read(workspace.root().join(path)) {
            sources
                .push(Source { path: path.to_owned(), text: String::from_utf8_lossy(&bytes).into_owned() });
        }
    }
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    sources.dedup_by(|left, right| left.path == right.path);
    Ok(sources)
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// What there is to say about a set of files.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    /// Each a reason to fail.
    problems: Vec<String>,
    /// Each worth a look, the longest file first.
    warnings: Vec<String>,
    /// How many files are over the aim, with a waiver or without.
    long: usize,
    longest: String,
}

fn judge(sources: &[Source]) -> Report {
    let mut problems = Vec::new();
    let mut long = Vec::new();
    let mut longest = (0, "none has a line");
    for source in sources {
        let path = &source.path;
        if let Some(name) = empty_name(path) {
            problems.push(format!("{path}: `{name}` does not say what is in it"));
        }
        if is_test(path) {
            continue;
        }
        let lines = code_lines(&source.text);
        longest = longest.max((lines, path));
        match waiver(&source.text) {
            Some("") => problems.push(format!("{path}: the waiver gives no reason")),
            Some(reason) if lines > AIM => {
                long.push((lines, format!("{path}: {lines} lines, waived: {reason}")));
            }
            Some(_) => long.push((lines, format!("{path}: {lines} lines, so its waiver can go"))),
            None if lines > LIMIT => {
                problems.push(format!("{path}: {lines} lines, over the limit of {LIMIT}"));
            }
            None if lines > AIM => {
                long.push((lines, format!("{path}: {lines} lines, over the aim of {AIM}")));
            }
            None => {}
        }
    }
    long.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    Report {
        problems,
        long: long.iter().filter(|(lines, _)| *lines > AIM).count(),
        warnings: long.into_iter().map(|(_, warning)| warning).collect(),
        longest: match longest {
            (0, nothing) => nothing.to_owned(),
            (lines, path) => format!("{path} is the longest with {lines} lines"),
        },
    }
}

/// Complains where more files are over the aim than are meant to be.
fn too_many(long: usize, looked_at: usize) -> Option<String> {
    (long * 100 > looked_at * MOST_LONG).then(|| {
        format!("{long} of {looked_at} files are over the aim of {AIM} lines, and at most {MOST_LONG} % are meant to be")
    })
}

/// Finds a part of a path, the extension aside, that is one of the empty names.
fn empty_name(path: &str) -> Option<&str> {
    path.split('/').find(|part| EMPTY_NAMES.contains(&part.strip_suffix(".rs").unwrap_or(part)))
}

/// Tells whether a whole file is tests: it lies in a folder `tests` or is a module of that name.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// Counts the lines before the inline test module that ends a file.
///
/// Clippy refuses items after such a module, so nothing but tests can hide behind it.
fn code_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .iter()
        .enumerate()
        .find(|(index, line)| line.starts_with("#[cfg(test)]") && opens_module(&lines[*index..]))
        .map_or(lines.len(), |(index, _)| index)
}

/// Tells whether the attributes at the start of these lines belong to `mod x {`, and not to a `mod x;` or a `use`.
fn opens_module(lines: &[&str]) -> bool {
    lines
        .iter()
        .map(|line| line.strip_prefix("#[cfg(test)]").unwrap_or(line).trim())
        .find(|line| !line.is_empty() && !line.starts_with("#[") && !line.starts_with("//"))
        .is_some_and(|line| {
            let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
            line.starts_with("mod ") && line.ends_with(['{', '}'])
        })
}

/// Finds the reason of a waiver at the top of a file; an empty text is a waiver without one.
fn waiver(text: &str) -> Option<&str> {
    text.lines()
        .take(WAIVER_LINES)
        .find_map(|line| line.trim().strip_prefix(WAIVER))
        .map(|rest| rest.trim_start_matches([',', ':']).trim())
}

#[cfg(test)]
mod tests {
    use super::{Report, Source, code_lines, judge, too_many};

    fn check(files: &[(&str, String)], problems: &[&str], warnings: &[&str], longest: &str) {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source { path: (*path).to_owned(), text: text.clone() })
            .collect();
        let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
        let report = judge(&sources);
        let long = report.long;
        assert_eq!(
            report,
            Report {
                problems: owned(problems),
                warnings: owned(warnings),
                long,
                longest: longest.to_owned()
            }
        );
    }

    fn lines(count: usize) -> String {
        "line\n".repeat(count)
    }

    #[test]
    fn lists_long_files_and_refuses_longer_ones() {
        check(
            &[
                ("crates/a/src/aim.rs", lines(400)),
                ("crates/a/src/long.rs", lines(401)),
                ("crates/a/src/longer.rs", lines(600)),
                ("crates/a/src/over.rs", lines(601)),
            ],
            &["crates/a/src/over.rs: 601 lines, over the limit of 600"],
            &[
                "crates/a/src/longer.rs: 600 lines, over the aim of 400",
                "crates/a/src/long.rs: 401 lines, over the aim of 400",
            ],
            "crates/a/src/over.rs is the longest with 601 lines",
        );
    }

    #[test]
    fn few_files_may_be_long() {
        let waived = "// sizes: waived, it is one table\n".to_owned();
        let files =
            [("a.rs", waived.clone() + &lines(30)), ("b.rs", waived + &lines(400)), ("c.rs", lines(401))];
        let sources = files.map(|(path, text)| Source { path: path.to_owned(), text });
        assert_eq!(judge(&sources).long, 2);
        assert_eq!(too_many(4, 100), None);
        let problem = "5 of 100 files are over the aim of 400 lines, and at most 4 % are meant to be";
        assert_eq!(too_many(5, 100).as_deref(), Some(problem));
    }

    #[test]
    fn does_not_count_tests() {
        let tail = "#[cfg(test)]\n#[expect(lint, reason = \"why\")]\nmod tests {\n".to_owned() + &lines(900);
        check(
            &[
                ("crates/a/src/b.rs", lines(10) + &tail),
                ("crates/a/src/b/tests.rs", lines(900)),
                ("crates/a/tests/it/main.rs", lines(900)),
            ],
            &[],
            &[],
            "crates/a/src/b.rs is the longest with 10 lines",
        );
    }

    #[test]
    fn counts_what_only_looks_like_tests() {
        let cases = [
            ("a\n#[cfg(test)]\nmod tests;\nb\n", 4),
            ("a\n#[cfg(test)]\nuse x;\nmod y {\n", 4),
            ("a\n    #[cfg(test)]\n    mod y {\n", 3),
            ("a\n#[cfg(test)] mod tests {\n}\n", 1),
            ("a\n#[cfg(test)]\n// Why.\n\npub(crate) mod tests {\n}\n", 1),
            ("#[cfg(test)]", 1),
            ("", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(code_lines(text), expected, "{text}");
        }
    }

    #[test]
    fn a_waiver_needs_a_reason_and_a_long_file() {
        let waived = |line: &str, count: usize| format!("//! Doc.\n{line}\n") + &lines(count - 2);
        check(
            &[
                ("crates/a/src/a.rs", waived("// sizes: waived, one generated table", 700)),
                ("crates/a/src/b.rs", waived("// sizes: waived", 700)),
                ("crates/a/src/c.rs", waived("// sizes: waived,  ", 30)),
                ("crates/a/src/d.rs", waived("// sizes: waived, was long", 30)),
                ("crates/a/src/e.rs", lines(10) + &waived("// sizes: waived, too low", 700)),
            ],
            &[
                "crates/a/src/b.rs: the waiver gives no reason",
                "crates/a/src/c.rs: the waiver gives no reason",
                "crates/a/src/e.rs: 710 lines, over the limit of 600",
            ],
            &[
                "crates/a/src/a.rs: 700 lines, waived: one generated table",
                "crates/a/src/d.rs: 30 lines, so its waiver can go",
            ],
            "crates/a/src/e.rs is the longest with 710 lines",
        );
    }

    #[test]
    fn refuses_names_that_say_nothing() {
        check(
            &[
                ("crates/a/src/utils.rs", lines(1)),
                ("crates/a/src/helpers/mod.rs", lines(1)),
                ("crates/a/tests/common/mod.rs", lines(1)),
                ("crates/a/src/media_types.rs", lines(1)),
            ],
            &[
                "crates/a/src/utils.rs: `utils.rs` does not say what is in it",
                "crates/a/src/helpers/mod.rs: `helpers` does not say what is in it",
                "crates/a/tests/common/mod.rs: `common` does not say what is in it",
            ],
            &[],
            "crates/a/src/utils.rs is the longest with 1 lines",
        );
    }
}
