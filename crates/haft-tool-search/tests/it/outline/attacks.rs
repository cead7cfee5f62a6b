//! Sources that were made to break what reads them.

use super::{call, registry, registry_with, text};
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolCall};
use haft_testkit::Tree;
use haft_tool_search::{Outline, SearchOptions};
use haft_tools_core::{
    AccessMode, AllowAll, Batch, CallScope, Limits, LocalExecutor, Policy, Resource, Rule, Scheme,
    ToolExecutor as _, ToolRegistry,
};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Longer than any of these should take, on a machine that does other things too.
const MOST: Duration = Duration::from_secs(20);

fn check(tree: &Tree, input: Value, expected: &Expect) {
    expected.assert_eq(&text(tree, input));
}

#[test]
fn deep_nesting_needs_no_deep_stack() {
    const DEPTH: usize = 50_000;
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    for (name, source) in [
        ("a.rs", format!("fn a() {{ {} }}", nested("(", ")"))),
        ("b.rs", nested("mod m { ", "}")),
        ("a.js", nested("function f() {", "}")),
        ("b.js", nested("[", "]")),
        ("a.py", format!("x = {}", nested("(", ")"))),
        ("a.c", format!("int x = {};", nested("(", ")"))),
        ("b.c", "{".repeat(DEPTH)),
        ("a.cpp", nested("namespace n {", "}")),
        ("a.go", format!("package a\nvar x = {}", nested("(", ")"))),
        ("a.java", nested("class A {", "}")),
        ("a.ts", format!("type A = {}", nested("Array<", ">"))),
    ] {
        let tree = Tree::new().file(name, &source);
        let started = Instant::now();
        for input in
            [json!({ "path": name }), json!({ "name": "f*", "role": "both" }), json!({ "name": "A" })]
        {
            let reply = call(&tree, input.clone());
            assert!(reply.status.is_ok(), "{name} {input}: {}", reply.output.to_text());
        }
        assert!(started.elapsed() < MOST, "{name} took {:?}", started.elapsed());
    }
}

#[test]
fn a_megabyte_on_one_line_is_outlined_and_bounded() {
    let source: String = (0..30_000)
        .map(|index| format!("function f{index}(a,b){{return a+b+{index}}}"))
        .collect::<Vec<_>>()
        .concat();
    assert!(source.len() > 1 << 20);
    let tree = Tree::new().file("min.js", &source);
    let found = text(&tree, json!({ "path": "min.js", "limit": 2 }));
    expect![[r#"
        1 function: function f0(a,b)
        1 function: function f1(a,b)

        1 to 2 of at least 30000 symbols, in 1 line of JavaScript; stopped at `limit`: for the next set `offset` to 2, raise `limit`, or set `depth` to 1"#]]
    .assert_eq(&found);
    let found = text(&tree, json!({ "name": "f29999" }));
    expect![[r#"
        min.js:1 function: function f29999(a,b)

        1 definition in 1 file"#]]
    .assert_eq(&found);
}

#[test]
fn a_signature_without_end_is_cut() {
    let parameters: String = (0..20_000).map(|index| format!("p{index}: u8, ")).collect::<Vec<_>>().concat();
    let tree = Tree::new()
        .file("a.rs", &format!("fn first({parameters}) {{}}\nfn second() {{}}\n"))
        .file("b.rs", &format!("fn {}() {{}}\n", "x".repeat(100_000)));
    for path in ["a.rs", "b.rs"] {
        let found = text(&tree, json!({ "path": path }));
        assert!(found.len() < 1000 && found.contains("long signatures are cut"), "{found}");
    }
}

#[test]
fn what_is_no_source_is_counted() {
    let tree = Tree::new()
        .file("a.rs", "fn a() {}\n")
        .bytes("binary.rs", b"fn b() {}\0")
        .bytes("large.rs", &vec![b' '; (4 << 20) + 1])
        .file("notes.md", "# fn c() {}\n")
        .file("more.md", "")
        .file("Makefile", "all:\n")
        .file("empty.rs", "")
        .pipe("pipe.rs");
    check(
        &tree,
        json!({}),
        &expect![[r#"
        a.rs: 1 line
          1 function: fn a()

        1 symbol in 1 file; 1 file without symbols
        not searched: 3 files in other languages (2 `.md`), 1 binary file, 1 file over 4 MiB"#]],
    );
    check(
        &tree,
        json!({ "path": "binary.rs" }),
        &expect![[r#"
        it cannot be outlined; search its text with `grep`
        not searched: 1 binary file"#]],
    );
    check(
        &tree,
        json!({ "path": "large.rs" }),
        &expect![[r#"
        it cannot be outlined; search its text with `grep`
        not searched: 1 file over 4 MiB"#]],
    );
    check(
        &tree,
        json!({ "path": "empty.rs" }),
        &expect!["no symbols in 0 lines of Rust; search its text with `grep`"],
    );
    check(
        &tree,
        json!({ "path": "notes.md" }),
        &expect![
            "`notes.md` cannot be outlined: it is not in C, C++, Go, Java, JavaScript, Python, Rust or TypeScript; read it, or search its text with `grep`"
        ],
    );
    check(
        &tree,
        json!({ "path": "pipe.rs" }),
        &expect!["`pipe.rs` is a named pipe; use the path of a file or directory"],
    );
    check(
        &tree,
        json!({ "type": "md" }),
        &expect![[r#"
        no file can be outlined: check `path`, `type` and `glob`
        not searched: 2 files in other languages (2 `.md`)"#]],
    );
    check(
        &tree,
        json!({ "name": "b" }),
        &expect![[r#"
        no definition of `b` in 2 files
        not searched: 3 files in other languages (2 `.md`), 1 binary file, 1 file over 4 MiB
        letter case counts: use a pattern such as `*part*`, or search the text of files with `grep`"#]],
    );
}

#[test]
fn other_encodings_are_read() {
    let utf16: Vec<u8> = "\u{feff}fn größe() {}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tree = Tree::new()
        .bytes("a.rs", &utf16)
        .bytes("b.rs", b"\xef\xbb\xbffn b() {}\n")
        .bytes("c.rs", b"// \xfc\xfe\nfn c() { \"\xff\"; }\n")
        .file("d.rs", "fn d() {}\r\n\r\nfn e(\r\n    a: u8,\r\n) {}\r\n");
    check(
        &tree,
        json!({}),
        &expect![[r#"
        a.rs: 1 line
          1 function: fn größe()
        b.rs: 1 line
          1 function: fn b()
        c.rs: 2 lines
          2 function: fn c()
        d.rs: 5 lines
          1 function: fn d()
          3-5 function: fn e(a: u8)

        5 symbols in 4 files"#]],
    );
    check(
        &tree,
        json!({ "name": "gr*" }),
        &expect![[r#"
        a.rs:1 function: fn größe()

        1 definition in 1 file"#]],
    );
}

#[test]
fn errors_are_said_and_what_can_be_told_is_given() {
    let tree = Tree::new()
        .file("a.rs", "fn a() {}\n\nfn b( {\n    1 +\n}\n\nstruct C { x: u8 }\n")
        .file("b.py", "def a():\n    pass\n\ndef b(:\n    pass\n\nclass C:\n    def d(self): pass\n")
        .file("c.js", "}}}}\n");
    check(
        &tree,
        json!({ "path": "a.rs" }),
        &expect![[r#"
        1 function: fn a()
        3-5 function: fn b(
        7 struct: struct C (1 field)

        3 symbols in 7 lines of Rust
        syntax error at line 3: what is around it may be missing or wrong"#]],
    );
    check(
        &tree,
        json!({}),
        &expect![[r#"
        a.rs: 7 lines, syntax error at line 3
          1 function: fn a()
          3-5 function: fn b(
          7 struct: struct C (1 field)
        b.py: 8 lines, syntax error at line 4
          1-2 function: def a()
          4-5 function: def b(
          7-8 class: class C (1 member)
        c.js: 1 line, syntax error at line 1

        6 symbols in 3 files"#]],
    );
    check(
        &tree,
        json!({ "name": "a", "role": "both" }),
        &expect![[r#"
        a.rs:1 function: fn a()
        b.py:1-2 function: def a()

        2 definitions and 0 uses in 2 files
        syntax errors in 2 files with such a name: places there may be missing"#]],
    );
}

#[test]
fn a_name_cannot_look_like_another_result() {
    let tree = Tree::new().file("a\nb.rs:1 function: fn x", "").file("a\nb.rs", "fn a() {}\n");
    check(
        &tree,
        json!({}),
        &expect![[r#"
        a\nb.rs: 1 line
          1 function: fn a()

        1 symbol in 1 file
        not searched: 1 file in other languages"#]],
    );
    check(
        &tree,
        json!({ "name": "a" }),
        &expect![[r#"
        a\nb.rs:1 function: fn a()

        1 definition in 1 file
        not searched: 1 file in other languages"#]],
    );
}

#[test]
fn a_link_that_leads_out_is_not_followed() {
    let outside = Tree::new().file("secret.rs", "fn secret() {}\n");
    let tree = Tree::new()
        .file("a.rs", "fn a() {}\n")
        .link("out", outside.path())
        .link("out.rs", outside.path().join("secret.rs"))
        .link("round", ".");
    assert!(!text(&tree, json!({ "name": "secret" })).contains("fn secret"));
    for path in ["out", "out.rs"] {
        let reply = call(&tree, json!({ "path": path }));
        assert_eq!(reply.status.to_string(), "denied", "{path}: {}", reply.output.to_text());
    }
}

#[test]
fn hostile_sources_end_in_time() {
    let tree = Tree::new()
        .file("a.c", &"#define A(\\\n(".repeat(20_000))
        .file("b.cpp", &"a<b<c<".repeat(20_000))
        .file(
            "c.py",
            &(0..2000).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect::<Vec<_>>().concat(),
        )
        .file("d.rs", &"r#\"".repeat(20_000))
        .file("e.js", &"`${".repeat(20_000))
        .file("f.ts", &"<T,".repeat(20_000))
        .file("g.go", &"func(".repeat(20_000))
        .file("h.java", &"@A(".repeat(20_000));
    let registry = registry_with(&tree, SearchOptions::default().timeout(Duration::from_millis(500)));
    for input in [json!({}), json!({ "name": "A", "role": "both" })] {
        let started = Instant::now();
        let reply = crate::call_of(&registry, "outline", input);
        assert!(reply.status.is_ok(), "{}", reply.output.to_text());
        assert!(started.elapsed() < MOST, "took {:?}", started.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parse_ends_when_its_call_is_cancelled() {
    let tree = Tree::new().file("a.cpp", &"int a = f<g<h>(1 + 2 * (3));\n".repeat(140_000));
    let token = CancellationToken::new();
    // Nobody else ends it.
    let limits = Limits { grace: MOST, ..Limits::default() };
    let executor = LocalExecutor::builder(registry(&tree)).approver(AllowAll).limits(limits).build();
    let call = ToolCall::new("c1".parse().unwrap(), "outline", json!({ "path": "a.cpp" }));
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]).cancelled_by(token.clone());
    let started = Instant::now();
    let running = executor.execute_batch(batch);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(60)).await;
        token.cancel();
        Instant::now()
    };
    let (outcome, cancelled) = tokio::join!(running, cancel);
    let replies = outcome.into_replies().unwrap();
    assert_eq!(replies[0].status, ReplyStatus::Cancelled, "after {:?}", started.elapsed());
    assert!(cancelled.elapsed() < MOST, "took {:?}", cancelled.elapsed());
}

#[tokio::test]
async fn what_a_policy_denies_to_read_is_not_outlined_from_above() {
    let tree = Tree::new().file("secrets/key.rs", "fn key() {}\n").file("src/a.rs", "fn a() {}\n");
    let secrets = Resource::subtree(Scheme::new("file"), "secrets");
    let policy = Policy::new()
        .allow(Rule::access(AccessMode::Read, Resource::subtree(Scheme::new("file"), "")))
        .deny(Rule::access(AccessMode::Read, secrets));
    let tools = ToolRegistry::of([Arc::new(Outline::new(tree.workdir())) as Arc<dyn haft_tools_core::Tool>]);
    let executor = LocalExecutor::builder(tools.unwrap()).policy(policy).build();
    for (input, is_allowed) in [
        (json!({}), true),
        (json!({ "name": "key" }), true),
        (json!({ "path": "secrets/key.rs" }), false),
        (json!({ "path": "secrets" }), false),
        (json!({ "path": "src" }), true),
    ] {
        let call = ToolCall::new("c1".parse().unwrap(), "outline", input.clone());
        let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
        let reply = executor.execute_batch(batch).await.into_replies().unwrap().remove(0);
        let text = reply.output.to_text();
        assert_eq!(reply.status.is_ok(), is_allowed, "{input}: {text}");
        assert!(!text.contains("fn key"), "{input}: {text}");
    }
}

#[test]
fn a_file_that_is_gone_is_said() {
    let tree = Tree::new().file("a.rs", "fn a() {}\n");
    fs::remove_file(tree.path().join("a.rs")).unwrap();
    check(
        &tree,
        json!({ "path": "a.rs" }),
        &expect![
            "`a.rs` does not exist; list its directory or search for the name, then use the path you find"
        ],
    );
}
