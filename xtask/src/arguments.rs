//! The command line, parsed once.

use std::fmt;

use crate::bench::{BENCHES, Bench};
use crate::ci::{Options, Reach};
use crate::corpus::Extent;
use crate::docs::{Mode, Programs};
use crate::features::Together;
use crate::fuzz::{TARGETS, Target};
use crate::help::{PAGES, Page};
use crate::nearest::nearest;
use crate::release;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// One command's page, or the list of all.
    Help(Option<&'static Page>),
    Ci(Options),
    Layers,
    Sizes,
    Features(Together),
    Docs(Mode, Programs),
    CountExamples,
    Examples,
    Msrv,
    Corpus(Extent),
    Crashes,
    Deploy,
    Durable,
    Postgres,
    McpClients,
    McpConformance,
    McpInstances,
    McpServers,
    Prism,
    Browser,
    Minimal,
    Api(Mode),
    Release(release::Extent),
    Semver,
    Walk(Mode, Programs),
    ListBenches,
    AllBenches,
    Bench {
        bench: &'static Bench,
        /// What the benchmark itself is given.
        arguments: Vec<String>,
    },
    Fuzz {
        /// One target, or all.
        target: Option<&'static Target>,
        /// What libFuzzer itself is given.
        arguments: Vec<String>,
    },
}

/// A command line that was not understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Understands the arguments behind `cargo xtask`.
pub(crate) fn parse(arguments: &[String]) -> Result<Command, UsageError> {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(UsageError("a command is missing; `cargo xtask --help` lists them".to_owned()));
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        return match rest.iter().find(|argument| !is_help(argument)) {
            None => Ok(Command::Help(None)),
            Some(topic) => page(topic).map(|page| Command::Help(Some(page))),
        };
    }
    let page = page(name)?;
    // What follows `--` belongs to the program that the command starts.
    let own = rest.split(|argument| argument == "--").next().unwrap_or_default();
    if own.iter().any(|argument| is_help(argument)) {
        return Ok(Command::Help(Some(page)));
    }
    match page.name {
        "bench" => return parse_bench(rest),
        "fuzz" => return parse_fuzz(rest),
        _ => {}
    }
    let mut flags = Flags { page, given: Vec::new() };
    for argument in rest {
        flags.accept(argument)?;
    }
    Ok(match page.name {
        "ci" => Command::Ci(Options { reach: reach(&flags)?, keep_going: flags.has("--keep-going") }),
        "layers" => Command::Layers,
        "sizes" => Command::Sizes,
        "features" if flags.has("--pairs") => Command::Features(Together::Two),
        "features" => Command::Features(Together::One),
        "docs" if flags.has("--count") => Command::CountExamples,
        "docs" => {
            let mode = if flags.has("--check") { Mode::Check } else { Mode::Rewrite };
            Command::Docs(mode, flags.programs())
        }
        "examples" => Command::Examples,
        "msrv" => Command::Msrv,
        "corpus" if flags.has("--schemas") => Command::Corpus(Extent::AllSchemas),
        "corpus" if flags.has("--examples") => Command::Corpus(Extent::Examples),
        "corpus" => Command::Corpus(Extent::All),
        "crashes" => Command::Crashes,
        "deploy" => Command::Deploy,
        "durable" => Command::Durable,
        "postgres" => Command::Postgres,
        "mcp-clients" => Command::McpClients,
        "mcp-conformance" => Command::McpConformance,
        "mcp-instances" => Command::McpInstances,
        "mcp-servers" => Command::McpServers,
        "prism" => Command::Prism,
        "browser" => Command::Browser,
        "minimal" => Command::Minimal,
        "api" => Command::Api(if flags.has("--check") { Mode::Check } else { Mode::Rewrite }),
        "semver" => Command::Semver,
        "release" if flags.has("--dry-run") => Command::Release(release::Extent::DryRun),
        "release" => Command::Release(release::Extent::Papers),
        "walk" => {
            let mode = if flags.has("--update") { Mode::Rewrite } else { Mode::Check };
            Command::Walk(mode, flags.programs())
        }
        // Every page has its command: a test parses each name.
        _ => Command::Help(Some(page)),
    })
}

fn is_help(argument: &str) -> bool {
    argument == "--help" || argument == "-h"
}

/// Looks a command up by its name.
fn page(name: &str) -> Result<&'static Page, UsageError> {
    PAGES.iter().find(|page| page.name == name).ok_or_else(|| {
        unknown("command", name, PAGES.iter().map(|page| page.name), "`cargo xtask --help` lists them all")
    })
}

/// How much `ci` runs.
fn reach(flags: &Flags) -> Result<Reach, UsageError> {
    match (flags.has("--quick"), flags.has("--full")) {
        (true, true) => {
            Err(UsageError("`--quick` and `--full` exclude each other; give one of them".to_owned()))
        }
        (true, false) => Ok(Reach::Quick),
        (false, true) => Ok(Reach::Full),
        (false, false) => Ok(Reach::Usual),
    }
}

fn parse_bench(arguments: &[String]) -> Result<Command, UsageError> {
    let Some((name, rest)) = arguments.split_first() else { return Ok(Command::ListBenches) };
    if name == "all" {
        return match rest {
            [] => Ok(Command::AllBenches),
            [more, ..] => {
                Err(UsageError(format!("`{more}` is one argument too many; all benchmarks run as they are")))
            }
        };
    }
    let names = BENCHES.iter().map(|bench| bench.name);
    let bench = BENCHES
        .iter()
        .find(|bench| bench.name == name)
        .ok_or_else(|| unknown("benchmark", name, names, "`cargo xtask bench` lists them all"))?;
    Ok(Command::Bench { bench, arguments: handed_on("benchmark", rest)? })
}

fn parse_fuzz(arguments: &[String]) -> Result<Command, UsageError> {
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) if name != "--" => (Some(name), rest),
        _ => (None, arguments),
    };
    let names = TARGETS.iter().map(|target| target.name);
    let find = |name: &String| {
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .ok_or_else(|| unknown("target", name, names, "`cargo xtask fuzz --help` lists them all"))
    };
    Ok(Command::Fuzz { target: name.map(find).transpose()?, arguments: handed_on("target", rest)? })
}

/// What stands behind `--` and is handed on to what the command starts.
fn handed_on(what: &str, arguments: &[String]) -> Result<Vec<String>, UsageError> {
    match arguments.split_first() {
        None => Ok(Vec::new()),
        Some((dashes, arguments)) if dashes == "--" => Ok(arguments.to_vec()),
        Some((extra, _)) => Err(UsageError(format!(
            "`{extra}` is one argument too many; put what the {what} gets behind `--`"
        ))),
    }
}

/// The options of one command.
struct Flags {
    page: &'static Page,
    given: Vec<&'static str>,
}

impl Flags {
    fn accept(&mut self, argument: &str) -> Result<(), UsageError> {
        let Page { name, options, .. } = self.page;
        let Some((option, _)) = options.iter().find(|(option, _)| *option == argument) else {
            let way_out = format!("`cargo xtask {name} --help` shows what it takes");
            let known = options.iter().map(|(option, _)| *option);
            return Err(unknown(&format!("argument of `{name}`"), argument, known, &way_out));
        };
        self.given.push(option);
        Ok(())
    }

    /// Says whether the command is built that pages are made of.
    fn programs(&self) -> Programs {
        if self.has("--built") { Programs::AsTheyAre } else { Programs::Build }
    }

    fn has(&self, option: &str) -> bool {
        self.given.contains(&option)
    }
}

fn unknown<'a>(
    what: &str,
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
    way_out: &str,
) -> UsageError {
    UsageError(match nearest(given, known) {
        Some(near) => format!("there is no {what} `{given}`; the nearest is `{near}`, and {way_out}"),
        None => format!("there is no {what} `{given}`; {way_out}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{Command, UsageError, parse};
    use crate::bench::BENCHES;
    use crate::ci::{Options, Reach};
    use crate::docs::{Mode, Programs};
    use crate::features::Together;
    use crate::fuzz::TARGETS;
    use crate::help::PAGES;
    use crate::release::Extent;

    fn parsed(line: &str) -> Result<Command, UsageError> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&arguments)
    }

    fn check(line: &str, expected: Command) {
        assert_eq!(parsed(line), Ok(expected), "{line}");
    }

    fn check_error(line: &str, expected: &str) {
        assert_eq!(parsed(line), Err(UsageError(expected.to_owned())), "{line}");
    }

    #[test]
    fn understands_every_command() {
        check("ci", Command::Ci(Options { reach: Reach::Usual, keep_going: false }));
        check(
            "ci --keep-going --quick --quick",
            Command::Ci(Options { reach: Reach::Quick, keep_going: true }),
        );
        check("ci --full", Command::Ci(Options { reach: Reach::Full, keep_going: false }));
        check("layers", Command::Layers);
        check("sizes", Command::Sizes);
        check("features", Command::Features(Together::One));
        check("features --pairs", Command::Features(Together::Two));
        check("docs", Command::Docs(Mode::Rewrite, Programs::Build));
        check("docs --count", Command::CountExamples);
        check("docs --check --built", Command::Docs(Mode::Check, Programs::AsTheyAre));
        check("examples", Command::Examples);
        check("msrv", Command::Msrv);
        check("mcp-clients", Command::McpClients);
        check("mcp-conformance", Command::McpConformance);
        check("mcp-instances", Command::McpInstances);
        check("mcp-servers", Command::McpServers);
        check("crashes", Command::Crashes);
        check("deploy", Command::Deploy);
        check("durable", Command::Durable);
        check("postgres", Command::Postgres);
        check("prism", Command::Prism);
        check("browser", Command::Browser);
        check("minimal", Command::Minimal);
        check("api", Command::Api(Mode::Rewrite));
        check("api --check", Command::Api(Mode::Check));
        check("semver", Command::Semver);
        check("release", Command::Release(Extent::Papers));
        check("release --dry-run", Command::Release(Extent::DryRun));
        let bash = TARGETS.iter().find(|target| target.name == "bash");
        check("fuzz", Command::Fuzz { target: None, arguments: vec![] });
        check("fuzz bash", Command::Fuzz { target: bash, arguments: vec![] });
        check("fuzz -- -runs=1", Command::Fuzz { target: None, arguments: vec!["-runs=1".to_owned()] });
        check("walk", Command::Walk(Mode::Check, Programs::Build));
        check("walk --update --built", Command::Walk(Mode::Rewrite, Programs::AsTheyAre));
        check("bench", Command::ListBenches);
        check("bench all", Command::AllBenches);
        let bench = BENCHES.iter().find(|bench| bench.name == "executor").unwrap();
        check("bench executor", Command::Bench { bench, arguments: vec![] });
        check(
            "bench executor -- --help -- x",
            Command::Bench { bench, arguments: ["--help", "--", "x"].map(str::to_owned).into() },
        );
    }

    #[test]
    fn every_page_of_help_has_its_command() {
        for page in PAGES {
            assert!(!matches!(parsed(page.name), Ok(Command::Help(_)) | Err(_)), "{}", page.name);
        }
    }

    #[test]
    fn shows_help_wherever_it_is_asked_for() {
        for line in ["help", "--help", "-h", "help --help"] {
            check(line, Command::Help(None));
        }
        for line in ["ci --help", "help ci", "ci --quick -h", "--help ci", "ci --nonsense --help"] {
            check(line, Command::Help(Some(&PAGES[0])));
        }
    }

    #[test]
    fn names_the_nearest_word() {
        check_error(
            "layer",
            "there is no command `layer`; the nearest is `layers`, and `cargo xtask --help` lists them all",
        );
        check_error("zebra", "there is no command `zebra`; `cargo xtask --help` lists them all");
        check_error(
            "help feature",
            "there is no command `feature`; the nearest is `features`, and `cargo xtask --help` lists them all",
        );
        check_error(
            "ci --quik",
            "there is no argument of `ci` `--quik`; the nearest is `--quick`, and `cargo xtask ci --help` shows \
             what it takes",
        );
        check_error(
            "sizes src",
            "there is no argument of `sizes` `src`; `cargo xtask sizes --help` shows what it takes",
        );
        check_error(
            "bench executer",
            "there is no benchmark `executer`; the nearest is `executor`, and `cargo xtask bench` lists them all",
        );
        check_error(
            "bench all executor",
            "`executor` is one argument too many; all benchmarks run as they are",
        );
        check_error(
            "bench executor fast",
            "`fast` is one argument too many; put what the benchmark gets behind `--`",
        );
        check_error(
            "fuzz bahs",
            "there is no target `bahs`; the nearest is `bash`, and `cargo xtask fuzz --help` lists them all",
        );
        check_error("fuzz bash 60", "`60` is one argument too many; put what the target gets behind `--`");
        check_error("ci --quick --full", "`--quick` and `--full` exclude each other; give one of them");
        check_error("", "a command is missing; `cargo xtask --help` lists them");
    }
}
