//! Scripts within the kernel's bounds, and what the model reads of that.
//!
//! Where this machine has no Landlock, a test says so and ends; so it does where something else is missing, but not in CI.
#![expect(clippy::print_stderr, reason = "what is skipped is told")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use expect_test::{Expect, expect};
use haft_core::ReplyStatus;
use haft_testkit::Tree;
use haft_tool_shell::{
    Bash, CommandCatalog, Environment, Jobs, ResourceLimits, Sandbox, SandboxLack, Scratch, ScriptOutputs,
    ShellSandbox,
};
use haft_tools_core::{CallScope, Tool as _, ToolRegistry};
use haft_workdir::{RootAccess, Workdir};
use serde_json::{Value, json};

use crate::harness::{Shell, shown};

fn sandbox() -> ShellSandbox {
    ["hooks", "config", "modules/**/hooks"]
        .into_iter()
        .fold(ShellSandbox::require(), |sandbox, name| sandbox.protect(&format!(".git/{name}")))
        .protect(".envrc")
        .protect(".claude/settings.json")
}

/// Tells whether this machine can confine programs, and says so where it cannot.
fn is_there() -> bool {
    let mut lacks = sandbox().lacks();
    lacks.retain(|lack| !lack.is_of_limits());
    let must = std::env::var_os("CI").is_some() && !lacks.contains(&SandboxLack::Files);
    assert!(!must || lacks.is_empty(), "this machine cannot confine programs: {lacks:?}");
    if !lacks.is_empty() {
        eprintln!("skipped, because this machine cannot confine programs: {lacks:?}");
    }
    lacks.is_empty()
}

fn environment() -> Environment {
    Environment::from_vars(std::env::vars_os())
}

fn git(tree: &Tree, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(tree.path()).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
    assert!(command.output().expect("git runs").status.success(), "git {arguments:?}");
}

fn shell(tree: Tree, workdir: Workdir, sandbox: ShellSandbox) -> Shell {
    let bash = Bash::new(workdir, environment()).sandbox(sandbox);
    Shell::of(tree, ToolRegistry::new().with(bash).expect("it has a name of its own"))
}

fn confined(tree: Tree) -> Shell {
    let workdir = tree.workdir();
    shell(tree, workdir, sandbox())
}

async fn check(tree: Tree, input: Value, expected: Expect) {
    if is_there() {
        let shell = confined(tree);
        let root = shell.tree.path().canonicalize().expect("it is there");
        let text = shown(&shell.call(input).await).replace(&*root.to_string_lossy(), "ROOT");
        expected.assert_eq(&text);
    }
}

#[tokio::test]
async fn a_script_that_only_reads_can_write_nothing() {
    if !is_there() {
        return;
    }
    // It does something else than is known of it.
    let programs = Tree::new().file("look", "#!/usr/bin/env bash\ncat \"$1\"\necho 2 > b\n");
    let program = programs.path().canonicalize().expect("it is there").join("look");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = format!("{}:/usr/bin:/bin", program.parent().expect("it lies somewhere").display());
    let known =
        CommandCatalog::built_in().extended("[look]\noperands = \"read*\"\n").expect("it is a catalog");
    let tree = Tree::new().file("a", "1\n");
    let environment = Environment::minimal().with("PATH", path).expect("a variable");
    let bash = Bash::new(tree.workdir(), environment).catalog(known).sandbox(sandbox());
    let shell = Shell::of(tree, ToolRegistry::new().with(bash).expect("it is the only tool"));
    let reply = shell.run("look a").await;
    expect![[r#"
        ok
        1
        look: line 3: b: Permission denied
        [the sandbox kept the command from this; if it is needed, run it again with "access": ["write b"], which the user is asked about]
        [exit code 1]
    "#]].assert_eq(&shown(&reply).replace(&*program.to_string_lossy(), "look"));
    assert!(!shell.tree.path().join("b").exists());
    // What is declared can be written.
    let reply = shell.run("cat a && echo 2 > b && cat b").await;
    assert_eq!(shown(&reply), "ok\n1\n2\n[exit code 0]\n");
}

#[tokio::test]
async fn what_bubblewrap_denies_becomes_a_request_too() {
    let Some(bubblewrap) = Sandbox::probe().by_bubblewrap() else {
        assert!(std::env::var_os("CI").is_none(), "`bwrap` is not there");
        eprintln!("skipped, because `bwrap` is not there");
        return;
    };
    let other = Tree::new().file("notes", "one\n").directory("made");
    let place = other.path().canonicalize().expect("it is there");
    let shell = |reads: bool| {
        let tree = Tree::new();
        let sandbox = sandbox().on(bubblewrap.clone());
        let sandbox = if reads { sandbox.read(&place) } else { sandbox };
        let bash = Bash::new(tree.workdir(), Environment::minimal()).sandbox(sandbox);
        Shell::of(tree, ToolRegistry::new().with(bash).expect("it is the only tool"))
    };
    // What may not be read is not there, and neither is where something is to be made; what may be read is read only.
    for (reads, does, access, printed) in [
        (false, "print(open(\"PLACE/notes\").read())", "read PLACE/notes", "one\n\n"),
        (true, "open(\"PLACE/notes\", \"a\").write(\"two\")", "write PLACE/notes", "(no output)\n"),
        (true, "open(\"PLACE/made/new\", \"w\")", "write PLACE/made/new", "(no output)\n"),
        (false, "open(\"PLACE/made/other\", \"w\")", "write PLACE/made/other", "(no output)\n"),
    ] {
        let placed = |text: &str| text.replace("PLACE", &place.to_string_lossy());
        let (script, access) = (format!("python3 -c '{}'", placed(does)), placed(access));
        let denied = shell(reads)
            .run(&format!("{script} 2>&1 | tail -1; exit ${{PIPESTATUS[0]}}"))
            .await
            .output
            .to_text();
        let (_, asked) = denied
            .split_once("run it again with \"access\": ")
            .unwrap_or_else(|| panic!("{script}: {denied}"));
        let (asked, _) = asked.split_once(", which the user is asked about").expect("and who is asked");
        assert_eq!(asked, json!([access]).to_string(), "{script}");
        let opened =
            shell(reads).call(json!({ "command": script, "access": [access] })).await.output.to_text();
        assert_eq!(opened, format!("{printed}[exit code 0]"), "{script}");
    }
    assert_eq!(other.read("notes"), "one\ntwo");
    assert_eq!(other.list(), ["made/", "made/new", "made/other", "notes"]);
}

#[tokio::test]
async fn a_denied_write_becomes_a_request_for_one_more_access() {
    check(
        Tree::new(),
        json!({ "command": "python3 -c 'open(\"/var/haft-denied\", \"w\")' 2>&1 | tail -1; exit 1" }),
        expect![[r#"
            ok
            PermissionError: [Errno 13] Permission denied: '/var/haft-denied'
            [the sandbox kept the command from this; if it is needed, run it again with "access": ["write /var/haft-denied"], which the user is asked about]
            [exit code 1]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_asked_for_is_declared_and_opened() {
    if !is_there() {
        return;
    }
    let other = Tree::new().file("notes", "x\n");
    let notes = other.path().canonicalize().expect("it is there").join("notes");
    let tree = Tree::new();
    let workdir = tree.workdir();
    let shell = shell(tree, workdir, sandbox().read(notes.parent().expect("it lies somewhere")));
    let command = format!("python3 -c 'open(\"{}\", \"a\").write(\"y\")'", notes.display());
    let denied = shell.call(json!({ "command": command })).await;
    assert!(
        denied.output.to_text().contains(&format!("\"write {}\"", notes.display())),
        "{}",
        shown(&denied)
    );
    let input = json!({ "command": command, "access": [format!("write {}", notes.display())] });
    let tool = Bash::new(shell.tree.workdir(), environment()).sandbox(sandbox());
    let prepared =
        tool.prepare(&input, &CallScope::new("run-1".parse().expect("an id"))).expect("it is prepared");
    let declared: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    assert!(declared.contains(&format!("write outside:{}", notes.display())), "{declared:?}");
    assert_eq!(shown(&shell.call(input).await), "ok\n(no output)\n[exit code 0]\n");
    assert_eq!(fs::read_to_string(notes).expect("it is there"), "x\ny");
}

#[tokio::test]
async fn a_denied_read_becomes_a_request_for_that_file_and_opens_no_other() {
    if !is_there() {
        return;
    }
    // Other temporary directories may be opened by what the machine's variables name.
    let other = Tree::new().file("notes", "one\n").file("keys", "two\n");
    let place = other.path().canonicalize().expect("it is there");
    let tree = Tree::new();
    let bash = Bash::new(tree.workdir(), Environment::minimal()).sandbox(sandbox());
    let shell = Shell::of(tree, ToolRegistry::new().with(bash).expect("it is the only tool"));
    let read =
        |name: &str| format!("python3 -c 'print(open(\"{}/{name}\").read())' 2>&1; exit 1", place.display());
    let denied = shell.run(&read("notes")).await.output.to_text();
    let (_, asked) = denied.split_once("run it again with \"access\": ").expect("it says what to ask for");
    let (asked, _) = asked.split_once(", which the user is asked about").expect("and who is asked");
    assert_eq!(asked, format!("[\"read {}/notes\"]", place.display()));
    let access: Value = serde_json::from_str(asked).expect("it can be given as it stands");
    let opened = shell.call(json!({ "command": read("notes"), "access": access })).await.output.to_text();
    assert_eq!(opened, "one\n\n[exit code 1]");
    let still = shell.call(json!({ "command": read("keys"), "access": access })).await.output.to_text();
    assert!(
        !still.contains("two") && still.contains(&format!("\"read {}/keys\"", place.display())),
        "{still}"
    );
}

#[tokio::test]
async fn what_is_asked_for_has_a_form() {
    check(
        Tree::new(),
        json!({ "command": "true", "access": ["everything"] }),
        expect![[r#"
            error: invalid input
            `everything` of `access` is not understood; write `read PATH`, `write PATH`, `connect HOST:PORT` or `connect local-sockets`
        "#]],
    )
    .await;
}

#[tokio::test]
async fn there_is_no_network_unless_it_was_declared() {
    check(
        Tree::new(),
        json!({ "command": "python3 -c 'import urllib.request as u; u.urlopen(\"https://example.org\")' 2>&1 | tail -1; exit 1" }),
        expect![[r#"
            ok
            urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>
            [the sandbox gives the command no network; if it is needed, run it again with "access": ["connect HOST:PORT"], which the user is asked about]
            [exit code 1]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn git_commits_and_its_hooks_stay_as_they_are() {
    if !is_there() {
        return;
    }
    let tree = Tree::new().file("a", "1\n");
    git(&tree, &["init", "-q"]);
    let shell = confined(tree);
    let reply = shell
        .run("git -c maintenance.auto=false -c user.name=a -c user.email=a@b commit -qm one --allow-empty && git worktree add -q w && git log --format=%s")
        .await;
    assert_eq!(shown(&reply), "ok\none\n[exit code 0]\n");
    let reply =
        shell.run("git config user.name mallory; python3 -c 'open(\".git/hooks/post-commit\", \"w\")'").await;
    assert!(reply.output.to_text().contains("[exit code 1]"), "{}", shown(&reply));
    assert!(!shell.tree.path().join(".git/hooks/post-commit").exists());
    assert!(
        !fs::read_to_string(shell.tree.path().join(".git/config")).expect("it is there").contains("mallory")
    );
}

#[tokio::test]
async fn a_submodule_that_is_made_brings_no_hooks_and_no_flood_opens_those_there_are() {
    if !is_there() {
        return;
    }
    let tree = Tree::new().file("a", "1\n");
    git(&tree, &["init", "-q"]);
    git(&tree, &["init", "-q", "--bare", ".git/modules/old"]);
    let shell = confined(tree);
    let reply = shell
        .run("git init -q --bare .git/modules/new && python3 -c 'open(\".git/modules/new/hooks/post-checkout\", \"w\")'")
        .await;
    let reply = shown(&reply);
    assert!(reply.contains("renamed to `.git/modules/new/hooks.set-aside`"), "{reply}");
    // What git has written is left.
    assert!(!reply.contains("modules/new/config"), "{reply}");
    assert!(shell.tree.path().join(".git/modules/new/config").exists());
    let flood =
        "python3 -c 'import os\nfor number in range(600): os.makedirs(\".git/modules/d%d\" % number)'";
    let reply = shown(&shell.run(flood).await);
    assert!(reply.contains("renamed to `.git/modules.set-aside`"), "{reply}");
    // Where there are too many before a script, it can write none of them.
    for number in 0..600 {
        fs::create_dir_all(shell.tree.path().join(format!(".git/modules/d{number}"))).expect("it is ours");
    }
    git(&shell.tree, &["init", "-q", "--bare", ".git/modules/old"]);
    shell.run("python3 -c 'open(\".git/modules/old/hooks/post-checkout\", \"w\")'").await;
    shell.run("python3 -c 'open(\".git/modules/x\", \"w\")'").await;
    assert!(!shell.tree.path().join(".git/modules/old/hooks/post-checkout").exists());
    assert!(!shell.tree.path().join(".git/modules/x").exists());
}

#[tokio::test]
async fn a_protected_place_is_found_behind_a_link_that_was_there() {
    if !is_there() {
        return;
    }
    let shell = confined(Tree::new().directory("agents/claude").link(".claude", "agents/claude"));
    let reply = shown(&shell.run("python3 -c 'open(\"agents/claude/settings.json\", \"w\")'").await);
    assert!(reply.contains("renamed to `agents/claude/settings.json.set-aside`"), "{reply}");
    assert!(!shell.tree.path().join(".claude/settings.json").exists());
}

#[tokio::test]
async fn git_commits_in_a_worktree_whose_repository_is_elsewhere() {
    if !is_there() {
        return;
    }
    let repository = Tree::new();
    git(&repository, &["init", "-q"]);
    git(&repository, &["commit", "-qm", "one", "--allow-empty"]);
    let place = Tree::new();
    let worktree = place.path().join("w");
    git(&repository, &["worktree", "add", "-q", &worktree.to_string_lossy()]);
    let workdir = Workdir::open(&worktree).expect("it is there");
    let shell = shell(place, workdir, sandbox());
    let commit = "git -c maintenance.auto=false -c user.name=a -c user.email=a@b commit -qm two --allow-empty && git log --format=%s";
    assert_eq!(shown(&shell.run(commit).await), "ok\ntwo\none\n[exit code 0]\n");
    let hooks = repository.path().join(".git/hooks").canonicalize().expect("it is there");
    let reply = shell.run(&format!("python3 -c 'open(\"{}/post-commit\", \"w\")'", hooks.display())).await;
    assert!(reply.output.to_text().contains("[exit code 1]"), "{}", shown(&reply));
    let reply = shell.run("python3 -c 'open(\".git\", \"w\")'").await;
    assert!(reply.output.to_text().contains("[exit code 1]"), "{}", shown(&reply));
}

#[tokio::test]
async fn what_is_made_in_a_protected_place_is_set_aside() {
    check(
        Tree::new(),
        json!({ "command": "python3 -c 'open(\".envrc\", \"w\")'; ls -A" }),
        expect![[r#"
            ok
            .envrc
            [the command made `.envrc`, a protected place, so it was renamed to `.envrc.set-aside`; if it is needed there, run the command again with "access": ["write .envrc"], which the user is asked about]
            [exit code 0]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_made_with_the_directory_that_a_protected_place_lies_in_is_set_aside() {
    if !is_there() {
        return;
    }
    let shell = confined(Tree::new());
    let make = "python3 -c 'import os; os.mkdir(\".claude\"); open(\".claude/settings.json\", \"w\")'";
    let reply = shown(&shell.run(make).await);
    assert!(reply.contains("renamed to `.claude/settings.json.set-aside`"), "{reply}");
    assert!(!shell.tree.path().join(".claude/settings.json").exists());
    // Nor is it there by a link, whose name nobody protects.
    let shell = confined(Tree::new());
    let link = "python3 -c 'import os; os.mkdir(\"x\"); open(\"x/settings.json\", \"w\"); os.symlink(\"x\", \".claude\")'";
    let reply = shown(&shell.run(link).await);
    assert!(reply.contains("renamed to `.claude.set-aside`"), "{reply}");
    assert!(!shell.tree.path().join(".claude/settings.json").exists());
    // A repository that is made has its own settings.
    let shell = confined(Tree::new());
    let reply = shown(&shell.run("python3 -c 'import os; os.makedirs(\".git/hooks\")'").await);
    assert!(!reply.contains("set-aside"), "{reply}");
}

#[tokio::test]
async fn a_link_in_a_protected_place_is_set_aside_when_it_leads_elsewhere() {
    if !is_there() {
        return;
    }
    let tree = Tree::new().link(".envrc", "real").file("real", "old\n");
    let shell = confined(tree);
    let reply = shell.run("python3 -c 'print(open(\".envrc\").read())'").await;
    assert_eq!(shown(&reply), "ok\nold\n\n[exit code 0]\n");
    let reply = shell.run("python3 -c 'open(\".envrc\", \"w\")' 2>/dev/null").await;
    assert!(reply.output.to_text().ends_with("[exit code 1]"), "{}", shown(&reply));
    let reply = shell.run("python3 -c 'import os; os.unlink(\".envrc\"); open(\".envrc\", \"w\")'").await;
    assert!(reply.output.to_text().contains("renamed to `.envrc.set-aside`"), "{}", shown(&reply));
    assert_eq!(shell.tree.read("real"), "old\n");
}

#[tokio::test]
async fn a_protected_place_that_was_asked_for_is_open() {
    check(
        Tree::new(),
        json!({ "command": "python3 -c 'open(\".envrc\", \"w\")'; ls -A", "access": ["write .envrc"] }),
        expect![[r#"
            ok
            .envrc
            [exit code 0]
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_root_for_reading_is_read() {
    if !is_there() {
        return;
    }
    let (tree, other) = (Tree::new().directory("fixed"), Tree::new().file("data", "x\n"));
    let workdir = tree
        .workdir()
        .with_root(other.path(), RootAccess::ReadOnly)
        .and_then(|workdir| workdir.with_root(tree.path().join("fixed"), RootAccess::ReadOnly))
        .expect("they are there");
    let data = other.path().canonicalize().expect("it is there").join("data");
    let shell = shell(tree, workdir, sandbox());
    let script =
        format!("python3 -c 'print(open(\"{0}\").read()); open(\"{0}\", \"w\")' 2>/dev/null", data.display());
    assert_eq!(shown(&shell.run(&script).await), "ok\nx\n\n[exit code 1]\n");
    let reply = shell.run("python3 -c 'open(\"fixed/new\", \"w\")' 2>/dev/null").await;
    assert_eq!(shown(&reply).lines().nth(1), Some("(no output)"));
    assert!(!shell.tree.path().join("fixed/new").exists());
}

#[tokio::test]
async fn what_is_temporary_stays_from_call_to_call_and_is_the_sandbox_s_own() {
    if !is_there() {
        return;
    }
    let (tree, place) = (Tree::new(), Tree::new());
    let scratch = Scratch::in_directory(place.path()).expect("it is made");
    let workdir = tree.workdir();
    let shell = shell(tree, workdir, sandbox().scratch(scratch));
    let reply = shell.run("f=$(mktemp) && echo kept > $f && mv $f ${TMPDIR}/kept").await;
    assert_eq!(shown(&reply), "ok\n(no output)\n[exit code 0]\n");
    assert_eq!(shown(&shell.run("cat ${TMPDIR}/kept").await), "ok\nkept\n[exit code 0]\n");
}

#[tokio::test]
async fn where_it_is_required_and_cannot_be_had_nothing_runs() {
    let tree = Tree::new();
    let workdir = tree.workdir();
    let shell = shell(tree, workdir, sandbox().on(Sandbox::missing()));
    let reply = shell.run("echo x > a").await;
    expect![[r#"
        error: unavailable
        commands may only run in a sandbox, which this machine does not have: files are not confined; other processes of the user can be sent signals; sockets and system calls are not confined; do without commands, or ask the user to change that
    "#]]
    .assert_eq(&shown(&reply));
    assert!(!shell.tree.path().join("a").exists());
}

#[tokio::test]
async fn where_it_is_preferred_and_cannot_be_had_it_is_said_what_is_weaker() {
    let tree = Tree::new();
    let workdir = tree.workdir();
    let shell = shell(tree, workdir, ShellSandbox::prefer().on(Sandbox::missing()));
    let reply = shell.run("echo x > a; cat a").await;
    assert_eq!(shown(&reply), "ok\nx\n[exit code 0]\n");
    let weaker = reply.output.details["sandbox"]["weaker"].as_array().map(Vec::len);
    assert_eq!(weaker, Some(4));
}

#[tokio::test]
async fn a_fork_bomb_stays_within_its_limit_and_ends() {
    if !is_there() {
        return;
    }
    if sandbox().lacks().contains(&SandboxLack::Processes) {
        eprintln!("skipped, because processes are not limited here: the user is root, or has no namespaces");
        return;
    }
    let (tree, place) = (Tree::new(), Tree::new());
    let scratch = Scratch::in_directory(place.path()).expect("it is made");
    let limits = ResourceLimits { processes: 64, ..ResourceLimits::default() };
    let workdir = tree.workdir();
    let shell = shell(tree, workdir, sandbox().scratch(scratch).limits(limits));
    let bomb = "bomb() { touch \"$BASHPID\"; bomb | bomb & }; bomb; sleep 60";
    let reply = shell.call(json!({ "command": bomb, "timeout": 2 })).await;
    let text = reply.output.to_text();
    assert_eq!(reply.status, ReplyStatus::TimedOut, "{text}");
    assert!(text.contains("Resource temporarily unavailable"), "{text}");
    shell.is_deserted().await;
}

#[tokio::test]
async fn a_job_serves_on_the_port_that_was_declared_and_on_no_other() {
    if !is_there() {
        return;
    }
    let [port, other, third] = [(); 3].map(|()| haft_testkit::free_port());
    let tree = Tree::new();
    let jobs = Jobs::new(ScriptOutputs::spilling_into(tree.path().join(".outputs")));
    let bash = Bash::new(tree.workdir(), environment()).sandbox(sandbox()).jobs(&jobs);
    let shell = Shell::of(tree, ToolRegistry::new().with(bash).expect("it is the only tool"));
    let serve = |on: u16| {
        format!(
            "python3 -u -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", {on})); time.sleep(61)' 2>&1"
        )
    };
    let reply = shell.call(json!({ "command": serve(port), "background": true, "port": port })).await;
    assert!(reply.output.to_text().contains("[the job `j1` is ready]"), "{}", reply.output.to_text());
    let reply = shell.call(json!({ "command": serve(other), "background": true, "port": third })).await;
    let text = reply.output.to_text();
    assert!(text.contains("Permission denied") && text.contains("ended before it was ready"), "{text}");
    jobs.end().await;
    shell.is_deserted().await;
}

#[tokio::test]
async fn a_job_connects_nowhere_because_of_the_port_it_is_waited_for_on() {
    if !is_there() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.2:0").expect("there is a port");
    let port = listener.local_addr().expect("it has one").port();
    let tree = Tree::new();
    let jobs = Jobs::new(ScriptOutputs::spilling_into(tree.path().join(".outputs")));
    let bash = Bash::new(tree.workdir(), environment()).sandbox(sandbox()).jobs(&jobs);
    let shell = Shell::of(tree, ToolRegistry::new().with(bash).expect("it is the only tool"));
    let command = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.2\", {port})); print(\"connected\")' 2>&1"
    );
    let reply = shell.call(json!({ "command": command, "background": true, "port": port })).await;
    let text = reply.output.to_text();
    assert!(text.contains("Permission denied") && !text.contains("\nconnected"), "{text}");
    jobs.end().await;
    shell.is_deserted().await;
}

#[tokio::test]
async fn a_job_that_serves_has_nothing_but_tcp() {
    if !is_there() {
        return;
    }
    let port = haft_testkit::free_port();
    let tree = Tree::new();
    let jobs = Jobs::new(ScriptOutputs::spilling_into(tree.path().join(".outputs")));
    let bash = Bash::new(tree.workdir(), environment()).sandbox(sandbox()).jobs(&jobs);
    let shell = Shell::of(tree, ToolRegistry::new().with(bash).expect("it is the only tool"));
    let udp = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)";
    let serve = format!("python3 -c '{udp}' 2>&1 | tail -1; exec python3 -m http.server {port} 2>/dev/null");
    let reply = shell.call(json!({ "command": serve, "background": true, "port": port })).await;
    let text = reply.output.to_text();
    assert!(text.contains("[the job `j1` is ready]") && text.contains("PermissionError"), "{text}");
    jobs.end().await;
    shell.is_deserted().await;
}

#[tokio::test]
async fn udp_is_there_where_a_name_has_to_be_looked_up() {
    if !is_there() {
        return;
    }
    // A proxy's name would have to be looked up as well.
    let environment = Environment::minimal();
    let command = "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)' 2>/dev/null && echo yes";
    for (host, code) in [
        ("127.0.0.1:5432", 1),
        ("localhost:5432", 1),
        ("[::1]:5432", 1),
        ("127.0.0.1:53", 0),
        ("example.org:443", 0),
    ] {
        let tree = Tree::new();
        let bash = Bash::new(tree.workdir(), environment.clone()).sandbox(sandbox());
        let shell = Shell::of(tree, ToolRegistry::new().with(bash).expect("it is the only tool"));
        let reply = shell.call(json!({ "command": command, "access": [format!("connect {host}")] })).await;
        assert_eq!(reply.output.details["exit_code"], json!(code), "{host}: {}", shown(&reply));
    }
}

#[tokio::test]
async fn a_job_with_a_terminal_is_confined_like_any_other() {
    if !is_there() {
        return;
    }
    let tree = Tree::new();
    let jobs = Jobs::new(ScriptOutputs::spilling_into(tree.path().join(".outputs")));
    let bash = Bash::new(tree.workdir(), environment()).sandbox(sandbox()).jobs(&jobs);
    let tools = jobs.tools().into_iter();
    let registry = tools.fold(ToolRegistry::new().with(bash).expect("it is the first"), |tools, tool| {
        tools.with(tool).expect("each has a name of its own")
    });
    let shell = Shell::of(tree, registry);
    let script = "stty size; ./unknown 2> /dev/null; python3 -c 'open(\"/usr/attacked\", \"w\")'; echo done; setsid sleep 61 & sleep 61";
    let start = json!({ "command": script, "background": true, "pty": true, "wait_for": "done" });
    let reply = shell.call(start).await;
    assert!(reply.output.to_text().contains("[the job `j1` is ready]"), "{}", reply.output.to_text());
    let screen =
        haft_testkit::call(shell.registry(), "job_poll", json!({ "job": "j1" })).await.output.to_text();
    assert!(screen.starts_with("24 80\n") && screen.contains("Permission denied"), "{screen}");
    jobs.end().await;
    shell.is_deserted().await;
}
