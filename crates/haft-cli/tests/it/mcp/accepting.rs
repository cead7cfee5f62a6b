//! Tools that change, and what a person says of them.

use super::User;
use crate::shown;
use expect_test::{Expect, expect};

#[test]
fn a_tool_that_is_not_what_it_was_waits_to_be_accepted() {
    let user = User::new();
    user.add_echo();
    let call = ["call", "echo__say", "{\"text\": \"hello\"}", "--yes"];
    assert!(user.command(&call).output().unwrap().status.success());
    user.describe("Says it again, and reads your keys.");
    user.check(
        &call,
        &expect![[r#"
            stderr: denied: `echo__say` cannot be called: its description changed since it was accepted; go on without it until the user has looked at it and accepted it with `haft mcp accept echo`
            exit 1
        "#]],
    );
    // Nobody can be asked here, so that without a digest nothing is accepted.
    user.check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        waits say@ace12d4ec62b3d64c8408e6b1add551d: its description changed since it was accepted
          description - Says it again.
          description + Says it again, and reads your keys.

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@ace12d4ec62b3d64c8408e6b1add551d
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "accept", "echo", "--all"],
        &expect![[r#"
        waits say@ace12d4ec62b3d64c8408e6b1add551d: its description changed since it was accepted
          description - Says it again.
          description + Says it again, and reads your keys.

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@ace12d4ec62b3d64c8408e6b1add551d
        exit 3
    "#]],
    );
    user.check(
        &["mcp", "accept", "echo", "say"],
        &expect![[r#"
        waits say@ace12d4ec62b3d64c8408e6b1add551d: its description changed since it was accepted
          description - Says it again.
          description + Says it again, and reads your keys.

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@ace12d4ec62b3d64c8408e6b1add551d
        exit 3
    "#]],
    );
    let shown = user.shown_digest();
    user.describe("Says it again, and reads all your keys.");
    user.check(&["mcp", "accept", "echo", &format!("say@{shown}")], &expect![[r#"
        stderr: error: `say` is not what was shown; it is `say@24d9d41f8519e103f28b6641b0aea8b8` now: look at it before you accept it
        exit 1
    "#]]);
    user.check(&["mcp", "accept", "echo", "say@0a1b2c3d"], &expect![[r#"
        stderr: error: a digest has at least 32 digits; write it as it was shown, as in `say@24d9d41f8519e103f28b6641b0aea8b8`
        exit 2
    "#]]);
    user.check(
        &["mcp", "accept", "echo", "sy@0a1b2c3d"],
        &expect![[r#"
        stderr: error: no tool `sy` waits to be accepted; did you mean `say`?
        exit 2
    "#]],
    );
    let shown = user.shown_digest();
    user.check(
        &["mcp", "accept", "echo", &format!("say@{}", &shown[..32])],
        &expect![[r#"
        accepted say@24d9d41f8519e103f28b6641b0aea8b8
        exit 0
    "#]],
    );
    user.check(
        &call,
        &expect![[r#"
        hello
        exit 0
    "#]],
    );
    user.check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        Nothing waits: 1 tool is accepted as it is.
        exit 0
    "#]],
    );
}

#[test]
fn what_cannot_be_shown_is_accepted_by_its_digest_alone() {
    let user = User::new();
    user.add_echo();
    assert!(user.command(&["mcp", "tools"]).output().unwrap().status.success());
    user.describe(&"Says it again. ".repeat(3000));
    user.check(&["mcp", "accept", "echo", "--all"], &expect![[r#"
        waits say@7b0378167d8c71f894bb81779e5576d7: its description changed since it was accepted
          its definition has 45122 bytes, too many to be shown here: see it with `haft mcp accept echo say --json`, then accept it by its digest

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@7b0378167d8c71f894bb81779e5576d7
        exit 3
    "#]]);
    let told = user.command(&["mcp", "accept", "echo", "say", "--json"]).output().unwrap();
    assert_eq!(told.status.code(), Some(3));
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let description = told[0]["definition"]["description"].as_str().unwrap();
    assert_eq!((description.len(), &told[0]["accepted"]), (44_999, &false.into()));
    let handle = format!("say@{}", told[0]["digest"].as_str().unwrap());
    user.check(
        &["mcp", "accept", "echo", &handle],
        &expect![[r#"
        accepted say@7b0378167d8c71f894bb81779e5576d7
        exit 0
    "#]],
    );
}

#[test]
fn a_tool_that_was_accepted_is_rejected() {
    let user = User::new();
    user.add_echo();
    let call = ["call", "echo__say", "{\"text\": \"hello\"}", "--yes"];
    assert!(user.command(&call).output().unwrap().status.success());
    let starts = user.starts();
    user.check(
        &["mcp", "reject", "echo", "sy"],
        &expect![[r#"
        stderr: error: no tool `sy` is accepted; did you mean `say`?
        exit 2
    "#]],
    );
    user.check(
        &["mcp", "reject", "echo", "say"],
        &expect![[r#"
        rejected say
        exit 0
    "#]],
    );
    assert_eq!(user.starts(), starts);
    user.check(&call, &expect![[r#"
        stderr: denied: `echo__say` cannot be called: none of its server's tools is accepted; go on without it until the user has looked at it and accepted it with `haft mcp accept echo`
        exit 1
    "#]]);
    user.check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        waits say@f4e18a7e515e95e1f777a9b0e64cb639: none of its server's tools is accepted
          description + Says it again.
          inputSchema + {"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}

        Accept what you have looked at by its digest, as in:
          haft mcp accept echo say@f4e18a7e515e95e1f777a9b0e64cb639
        exit 0
    "#]],
    );

    let digest = user.shown_digest();
    assert!(
        user.command(&["mcp", "accept", "echo", &format!("say@{digest}")]).output().unwrap().status.success()
    );
    user.check(
        &["mcp", "reject", "echo", "--all", "--json"],
        &expect![[r#"
        [
          {
            "rejected": true,
            "tool": "say"
          }
        ]
        exit 0
    "#]],
    );
    user.check(&call, &expect![[r#"
        stderr: denied: `echo__say` cannot be called: none of its server's tools is accepted; go on without it until the user has looked at it and accepted it with `haft mcp accept echo`
        exit 1
    "#]]);
}

#[test]
fn what_was_accepted_is_not_granted_again_where_it_is_lost() {
    let user = User::new();
    user.add_echo();
    let call = ["call", "echo__say", "{\"text\": \"hello\"}", "--yes"];
    assert!(user.command(&call).output().unwrap().status.success());
    let pins = user.home.path().join("state/haft/mcp-pins");
    let files = std::fs::read_dir(&pins).unwrap().map(|entry| entry.unwrap().path());
    let file = files.filter(|path| path.extension().is_some_and(|end| end == "json")).last().unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let check = |arguments: &[&str], expected: &Expect| {
        let shown = shown(&user.command(arguments).output().unwrap());
        let home = user.home.path().display().to_string();
        expected.assert_eq(&shown.replace(&home, "HOME").replace(name, "SERVER.json"));
    };
    check(
        &call,
        &expect![[r#"
            stderr: denied: `echo__say` cannot be called: what was accepted of its server cannot be read or kept; go on without it until the user has looked at it and accepted it with `haft mcp accept echo`
            exit 1
        "#]],
    );
    check(
        &["mcp", "accept", "echo"],
        &expect![[r#"
        stderr: error: cannot read what was accepted of the server, so nothing of it is accepted; correct the file, or have `haft mcp reject SERVER --all` put one in its place that accepts nothing
        stderr:   because: others than its owner may read or write `HOME/state/haft/mcp-pins/SERVER.json` (mode 0644); look at what it says, then make it private with `chmod 600`
        exit 1
    "#]],
    );
    std::fs::remove_file(&file).unwrap();
    check(
        &call,
        &expect![[r#"
            stderr: denied: `echo__say` cannot be called: none of its server's tools is accepted; go on without it until the user has looked at it and accepted it with `haft mcp accept echo`
            exit 1
        "#]],
    );
}
