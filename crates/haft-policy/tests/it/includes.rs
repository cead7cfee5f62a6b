use crate::fixture::{Memory, decide, language, notes};
use expect_test::{Expect, expect};
use haft_policy::{LoadedPolicy, PolicyFileError, PolicyLoader, Trust};
use haft_tools_core::Mode;
use std::time::Duration;

fn load(files: Memory) -> Result<LoadedPolicy, PolicyFileError> {
    PolicyLoader::new(language()).without_default_profile().source(files).user("home/policy.toml").load()
}

fn load_untrusted(files: Memory) -> Result<LoadedPolicy, PolicyFileError> {
    PolicyLoader::new(language())
        .without_default_profile()
        .source(files)
        .workspace("home/policy.toml", Trust::Untrusted)
        .load()
}

fn refused(loaded: Result<LoadedPolicy, PolicyFileError>, expect: Expect) {
    expect.assert_eq(&loaded.unwrap_err().to_string());
}

#[test]
fn what_is_included_is_part_of_the_layer_and_relative_to_the_file_that_includes_it() {
    let files = Memory::of([
        ("home/policy.toml", "include = [\"team/a.toml\"]\n[permissions]\ndeny = [\"write(src/x)\"]\n"),
        ("home/team/a.toml", "include = [\"../b.toml\"]\n[permissions]\nallow = [\"write(src/**)\"]\n"),
        (
            "home/b.toml",
            "[permissions]\nask = [\"write(src/y)\"]\n[agents.explorer.permissions]\ndeny = [\"read(**)\"]\n",
        ),
    ]);
    let loaded = load(files).unwrap();
    assert_eq!(loaded.files, ["home/team/../b.toml", "home/team/a.toml", "home/policy.toml"]);
    let said: Vec<String> = ["src/x", "src/y", "src/z"]
        .map(|path| decide(&loaded, &[], &format!("write({path})")))
        .into_iter()
        .chain([decide(&loaded, &["explorer"], "read(a)")])
        .collect();
    expect![[r#"
        write file:src/x: deny by the rule write(src/x) (home/policy.toml:3)
        write file:src/y: ask by the rule write(src/y) (home/team/../b.toml:2)
        write file:src/z: allow by the rule write(src/**) (home/team/a.toml:3)
        read file:a: deny by the rule read(**) (home/team/../b.toml:4) for the agent explorer"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn what_a_file_says_once_counts_over_what_it_includes() {
    let files = Memory::of([
        (
            "home/policy.toml",
            "include = [\"a.toml\", \"b.toml\"]\n[limits]\ntimeout = 3\n[limits.tools.bash]\ntimeout = 3\n",
        ),
        (
            "home/a.toml",
            "profile = \"read_only\"\n[permissions]\nmode = \"auto\"\n[limits]\ntimeout = 1\ngrace = 1\n",
        ),
        ("home/b.toml", "[permissions]\nmode = \"plan\"\n[limits.tools.bash]\ntimeout = 2\n"),
    ]);
    let loaded = load(files).unwrap();
    assert_eq!((loaded.mode, loaded.limits.timeout), (Mode::Plan, Duration::from_secs(3)));
    assert_eq!(loaded.limits.grace, Duration::from_secs(1));
    assert_eq!(loaded.tool_limits[0].1.timeout, Some(Duration::from_secs(3)));
}

#[test]
fn a_file_that_is_not_there_is_a_fault_of_the_one_that_includes_it() {
    let files =
        Memory::of([("home/policy.toml", "include = [\"a.toml\",\n  \"../b.toml\"]\n"), ("home/a.toml", "")]);
    refused(
        load(files),
        expect![[r#"
        error: cannot read `home/../b.toml`: there is no such file
         --> home/policy.toml:2:4
          |
        2 |   "../b.toml"]
          |    ^^^^^^^^^"#]],
    );
    refused(
        load(Memory::default()),
        expect!["error: home/policy.toml: cannot be read: there is no such file"],
    );
}

#[test]
fn files_that_include_each_other_are_named_in_their_order() {
    let files = Memory::of([
        ("home/policy.toml", "include = [\"a.toml\"]\n"),
        ("home/a.toml", "include = [\"b.toml\"]\n"),
        ("home/b.toml", "\ninclude = [\"a.toml\"]\n"),
    ]);
    refused(
        load(files),
        expect![[r#"
        error: these files include each other, so take one `include` out: home/a.toml → home/b.toml → home/a.toml
         --> home/b.toml:2:13
          |
        2 | include = ["a.toml"]
          |             ^^^^^^"#]],
    );
    refused(
        load(Memory::of([("home/policy.toml", "include = [\"./policy.toml\"]\n")])),
        expect![[r#"
        error: these files include each other, so take one `include` out: home/policy.toml → home/./policy.toml
         --> home/policy.toml:1:13
          |
        1 | include = ["./policy.toml"]
          |             ^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn a_file_that_is_included_twice_counts_once() {
    let test = "[[test]]\naccess = \"opaque\"\nexpect = \"ask\"\n";
    let files = Memory::of([
        ("home/policy.toml", "include = [\"a.toml\", \"b.toml\"]\n"),
        ("home/a.toml", "include = [\"c.toml\"]\n"),
        ("home/b.toml", "include = [\"c.toml\"]\n"),
        ("home/c.toml", test),
    ]);
    let loaded = load(files).unwrap();
    assert_eq!((loaded.files.len(), loaded.tests_passed), (4, 1));
}

#[test]
fn eight_files_below_the_first_are_the_most() {
    let chain = |depth: usize| {
        let files = (0..depth).fold(Memory::default(), |files, place| {
            files.with(format!("home/{place}.toml"), format!("include = [\"{}.toml\"]\n", place + 1))
        });
        files.with(format!("home/{depth}.toml"), "").with("home/policy.toml", "include = [\"0.toml\"]\n")
    };
    assert!(load(chain(7)).is_ok());
    refused(
        load(chain(8)),
        expect![[r#"
        error: files include each other at most 8 deep; include them from one file
         --> home/7.toml:1:13
          |
        1 | include = ["8.toml"]
          |             ^^^^^^"#]],
    );
}

#[test]
fn faults_of_all_files_are_said_at_once() {
    let files = Memory::of([
        ("home/policy.toml", "include = [\"a.toml\", \"b.toml\", \"c.toml\"]\n"),
        ("home/a.toml", "alow = 1\n"),
        ("home/b.toml", "[permissions]\ndeny = [\"raed(x)\"]\n"),
    ]);
    refused(
        load(files),
        expect![[r#"
        error: `alow` is not a key of a policy file; write `include`, `profile`, `permissions`, `agents`, `limits`, `sandbox` or `test`
         --> home/a.toml:1:1
          |
        1 | alow = 1
          | ^^^^

        error: `raed` is not a mode; write `read`
         --> home/b.toml:2:10
          |
        2 | deny = ["raed(x)"]
          |          ^^^^

        error: cannot read `home/c.toml`: there is no such file
         --> home/policy.toml:1:33
          |
        1 | include = ["a.toml", "b.toml", "c.toml"]
          |                                 ^^^^^^"#]],
    );
}

#[test]
fn an_included_file_is_tested_by_itself() {
    let files = Memory::of([
        ("home/policy.toml", "include = [\"a.toml\"]\n[permissions]\ndeny = [\"write(x)\"]\n"),
        (
            "home/a.toml",
            "[permissions]\nallow = [\"write(x)\"]\n[[test]]\naccess = \"write(x)\"\nexpect = \"allow\"\n",
        ),
    ]);
    let loaded = load(files).unwrap();
    assert_eq!((loaded.tests_passed, notes(&loaded)), (1, String::new()));
}

#[test]
fn what_is_not_trusted_includes_nothing_outside_its_folder() {
    let with = |include: &str| {
        Memory::of([("home/secret.toml", ""), ("secret.toml", "password = 1\n"), ("/etc/passwd", "root\n")])
            .with("home/policy.toml", format!("include = [\"{include}\"]\n"))
    };
    refused(
        load_untrusted(with("../secret.toml")),
        expect![[r#"
        error: a policy that is not trusted includes only files in its own directory and below it
         --> home/policy.toml:1:13
          |
        1 | include = ["../secret.toml"]
          |             ^^^^^^^^^^^^^^"#]],
    );
    refused(
        load_untrusted(with("/etc/passwd")),
        expect![[r#"
        error: a policy that is not trusted includes only files in its own directory and below it
         --> home/policy.toml:1:13
          |
        1 | include = ["/etc/passwd"]
          |             ^^^^^^^^^^^"#]],
    );
    refused(
        load_untrusted(with("a/../../secret.toml")),
        expect![[r#"
        error: a policy that is not trusted includes only files in its own directory and below it
         --> home/policy.toml:1:13
          |
        1 | include = ["a/../../secret.toml"]
          |             ^^^^^^^^^^^^^^^^^^^"#]],
    );
    assert!(load_untrusted(with("secret.toml")).is_ok());
    assert!(load_untrusted(with("./secret.toml")).is_ok());
}

#[cfg(unix)]
#[test]
fn what_is_not_trusted_includes_nothing_outside_its_folder_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (home, work) = (folder.path().join("home.toml"), folder.path().join("work"));
    std::fs::create_dir(&work).unwrap();
    std::fs::write(&home, "[permissions]\n").unwrap();
    std::fs::write(work.join("policy.toml"), "include = [\"link.toml\"]\n").unwrap();
    std::os::unix::fs::symlink(&home, work.join("link.toml")).unwrap();
    let load = |trust| PolicyLoader::new(language()).workspace(work.join("policy.toml"), trust).load();
    let error = load(Trust::Untrusted).unwrap_err();
    assert_eq!(
        error.problems()[0].message(),
        "a policy that is not trusted includes only files in its own directory and below it"
    );
    assert!(load(Trust::Trusted).is_ok());
}
