use crate::fixture::{Memory, access_of, language, spec};
use expect_test::expect;
use haft_policy::{
    LocalPolicySource, PolicyFile, PolicyFileError, PolicyLoader, PolicySource as _, Profile, Trust,
};
use haft_tools_core::{
    AccessMode, Accesses, PatternError, PatternSet, PatternSyntax, Policy, PolicyLayer, Resource,
    RuleLanguage, Scheme,
};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[test]
fn a_file_of_more_than_a_mebibyte_is_refused() {
    let text = " ".repeat((1 << 20) + 1);
    let error = PolicyFile::parse(&text, "policy.toml", &language()).unwrap_err();
    expect!["error: policy.toml: a policy file has at most 1 MiB; split it up with `include`"]
        .assert_eq(&error.to_string());
    assert!(PolicyFile::parse(&text[1..], "policy.toml", &language()).is_ok());
}

#[test]
fn files_on_the_disk_are_read_as_far_as_they_are_policies() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("large.toml"), " ".repeat((1 << 20) + 1)).unwrap();
    std::fs::write(path("bytes.toml"), [0xff, 0xfe]).unwrap();
    std::fs::write(path("fine.toml"), "[permissions]\n").unwrap();
    let read = |name: &str| LocalPolicySource.read(&path(name)).map_err(|error| error.to_string());
    assert_eq!(read("large.toml"), Err("it is larger than 1 MiB".to_owned()));
    assert_eq!(read("bytes.toml"), Err("it is not UTF-8".to_owned()));
    assert_eq!(read(""), Err("it is not a regular file".to_owned()));
    assert_eq!(read("fine.toml"), Ok("[permissions]\n".to_owned()));
    assert!(LocalPolicySource.read(std::path::Path::new("/dev/zero")).is_err());
    std::os::unix::fs::symlink("none.toml", path("link.toml")).unwrap();
    expect![
        "error: policy: cannot be read: it is a link that leads nowhere; remove it, or have it lead to a file"
    ]
    .assert_eq(
        &PolicyLoader::new(language())
            .user(path("link.toml"))
            .load()
            .unwrap_err()
            .to_string()
            .replace(&*path("link.toml").to_string_lossy(), "policy"),
    );
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        format!("x = {}", "[".repeat(200_000)),
        format!("x = {}", "{a=".repeat(200_000)),
        format!("[{}]", vec!["a"; 200_000].join(".")),
        format!("[[test]]\ntool = \"t\"\nexpect = \"ask\"\ninput = {}", "{a=".repeat(100_000)),
    ] {
        assert!(PolicyFile::parse(&text, "policy.toml", &language()).is_err());
    }
}

#[test]
fn many_faults_are_counted_and_the_first_are_told() {
    let text = format!("[permissions]\nallow = [{}]\n", "\"x(y)\",\n".repeat(50_000));
    let start = Instant::now();
    let error = PolicyFile::parse(&text, "policy.toml", &language()).unwrap_err();
    assert_eq!((error.problems().len(), error.more()), (100, 9_901));
    assert!(error.to_string().ends_with("\n\nand 9901 more"));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn rules_and_tests_are_bounded() {
    let rules = |count| format!("[permissions]\nallow = [\n{}]\n", "\"bash\",\n".repeat(count));
    assert!(PolicyFile::parse(&rules(10_000), "policy.toml", &language()).is_ok());
    let error = PolicyFile::parse(&rules(10_003), "policy.toml", &language()).unwrap_err();
    assert_eq!(told(&error), [(Some(10_003), TOO_MANY)]);
    let tests = "[[test]]\naccess = \"opaque\"\nexpect = \"ask\"\n".repeat(1_001);
    let error = PolicyFile::parse(&tests, "policy.toml", &language()).unwrap_err();
    assert_eq!(
        error.problems()[0].message(),
        "a policy file has at most 1000 tests; move some into another file"
    );
}

const TOO_MANY: &str = "a policy has at most 10000 rules, all that it includes counted; use wider patterns";

fn told(error: &PolicyFileError) -> Vec<(Option<u32>, &str)> {
    error.problems().iter().map(|problem| (problem.line(), problem.message())).collect()
}

/// Counts how many patterns are compiled, and how many of the sets are there at a time.
#[derive(Debug, Clone, Default)]
struct Counted {
    compiled: Arc<AtomicUsize>,
    kept: Arc<()>,
}

#[derive(Debug)]
struct KeptSet(#[expect(dead_code, reason = "it counts this set")] Arc<()>);

impl PatternSyntax for Counted {
    fn speaks_of(&self, _: &Scheme) -> bool {
        true
    }

    fn compile(&self, _: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
        self.compiled.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(KeptSet(Arc::clone(&self.kept))))
    }

    fn resource(&self, text: &str) -> Result<Resource, PatternError> {
        Ok(Resource::exact(Scheme::new("file"), text))
    }

    fn suggest(&self, _: &Resource) -> Option<String> {
        None
    }
}

impl PatternSet for KeptSet {
    fn first_containing(&self, _: &Resource) -> Option<usize> {
        None
    }

    fn first_touching(&self, _: &Resource) -> Option<usize> {
        None
    }
}

#[test]
fn no_rule_is_compiled_beyond_those_that_a_policy_may_have() {
    let syntax = Counted::default();
    let language = RuleLanguage::new().with(AccessMode::Write, syntax.clone());
    let mut files = Memory::default();
    let names: Vec<String> = (0..8).map(|place| format!("{place}.toml")).collect();
    let rules = format!("[permissions]\nallow = [{}]\n", "\"write(a)\",".repeat(3_000));
    let agents = rules.replace("permissions", "agents.a.ceiling");
    for (place, name) in names.iter().enumerate() {
        files = files.with(name, if place % 2 == 0 { &*rules } else { &*agents });
    }
    let files = files.with("policy.toml", format!("include = {names:?}"));
    let loader = PolicyLoader::new(language).source(files);
    let own = loader.load().map(|_| syntax.compiled.swap(0, Ordering::Relaxed)).unwrap();
    let error = loader.workspace("policy.toml", Trust::Untrusted).load().unwrap_err();
    assert_eq!(told(&error).iter().map(|(_, message)| *message).collect::<Vec<_>>(), [TOO_MANY]);
    assert_eq!(error.problems()[0].file(), "3.toml");
    assert_eq!(syntax.compiled.load(Ordering::Relaxed), 10_000 + own);
}

#[test]
fn rules_that_are_read_keep_no_compiled_patterns() {
    let syntax = Counted::default();
    let language = RuleLanguage::new().with(AccessMode::Write, syntax.clone());
    let text = format!("[permissions]\nallow = [{}]\n", "\"write(a)\",".repeat(1_000));
    let before = Arc::strong_count(&syntax.kept);
    let file = PolicyFile::parse(&text, "policy.toml", &language).unwrap();
    assert_eq!(syntax.compiled.load(Ordering::Relaxed), 1_000, "each is known to be a pattern");
    assert_eq!(Arc::strong_count(&syntax.kept), before);
    let policy = Policy::layered([PolicyLayer::new("user", file.rules())]);
    let write = access_of("write(a)");
    policy.decide(&spec("t"), &Accesses::from(write));
    assert_eq!(Arc::strong_count(&syntax.kept), before + 1, "all of a list are compiled together");
}

#[test]
fn a_tree_of_files_is_bounded() {
    let mut files = Memory::default();
    for place in 0..70 {
        files = files.with(format!("{place}.toml"), "");
    }
    let names: Vec<String> = (0..70).map(|place| format!("\"{place}.toml\"")).collect();
    let files = files.with("policy.toml", format!("include = [{}]", names.join(", ")));
    let error = PolicyLoader::new(language()).source(files).user("policy.toml").load().unwrap_err();
    assert_eq!(error.problems()[0].message(), "a policy is at most 64 files; put some of them together");
}

/// A file that has everything.
const WHOLE: &str = r#"include = ["other.toml"]
profile = "workspace_write"

[permissions]
mode = "auto"
allow = ["read(src/**)", 'exec(git diff *)', """connect(*.example.org)"""]
ask = ["@github"]
deny = ["write(.env)", "opaque"]

[agents.explorer.permissions]
allow = ["read(**)"]
[agents.explorer.ceiling]
deny = ["write(**)"]

[limits]
timeout = "30s"
idle_timeout = 2.5
output_bytes = "64 KiB"
[limits.retries]
most = 0x1
[limits.tools."@github, !bash"]
timeout = 7

[sandbox]
mode = "prefer"

[[test]]
access = "write(src/x)"
expect = "allow"
agent = ["lead", "explorer"]
mode = "plan"
name = "é\u0041"

[[test]]
tool = "edit_file"
input = { path = "a", at = 1979-05-27T07:32:00Z, list = [1, 2.0, true] }
expect = "ask"
"#;

#[test]
fn a_file_that_has_everything_is_read() {
    let file = PolicyFile::parse(WHOLE, "policy.toml", &language()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((file.test_count(), file.profile()), (2, Some(Profile::WorkspaceWrite)));
}

/// Cuts pieces out of a text and puts others in, on boundaries of characters.
fn mutated() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[\\[\\]{}\"'=.,\\\\\n\r\t#a-z0-9é\u{202e}\u{0}]{0,4}",
        (0..WHOLE.len(), 0..40_usize).prop_map(|(from, length)| cut(from, length).to_owned()),
    ];
    prop::collection::vec((0..WHOLE.len(), 0..30_usize, piece), 1..6).prop_map(|changes| {
        changes.into_iter().fold(WHOLE.to_owned(), |text, (from, length, piece)| {
            let from = floor(&text, from.min(text.len()));
            let to = floor(&text, (from + length).min(text.len()));
            format!("{}{piece}{}", &text[..from], &text[to..])
        })
    })
}

fn cut(from: usize, length: usize) -> &'static str {
    &WHOLE[floor(WHOLE, from)..floor(WHOLE, (from + length).min(WHOLE.len()))]
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Reads a text, and looks at whatever is said of it.
fn read(text: &str) {
    if let Err(error) = PolicyFile::parse(text, "policy.toml", &language()) {
        assert!(!error.problems().is_empty());
        let lines: Vec<&str> = text.split('\n').collect();
        for problem in error.problems() {
            let (Some(line), Some(column)) = (problem.line(), problem.column()) else { continue };
            let line = lines[line as usize - 1];
            assert!(column as usize <= line.chars().count() + 1, "{column} in {line:?}");
        }
        assert!(error.to_string().starts_with("error: "));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_lines_are_read_or_refused(lines in prop::collection::vec("(\\[{1,2}[a-z.]{0,12}\\]{0,2}|[a-z_]{1,12} = [\\[\"'{]{0,3}[a-z(*)@/]{0,9}[\\]\"'}]{0,3})", 0..12)) {
        read(&lines.join("\n"));
    }

    #[test]
    fn a_file_that_was_tampered_with_is_read_or_refused(text in mutated()) {
        read(&text);
    }
}
