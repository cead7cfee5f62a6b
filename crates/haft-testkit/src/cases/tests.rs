use super::content::Form;
use super::page::Page;
use super::{Mode, check_page, check_pages};
use crate::Tree;
use expect_test::{Expect, expect};
use haft_core::ToolError;
use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
use haft_workdir::Existing;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Say {
    text: String,
    #[serde(default)]
    missing: bool,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Put {
    path: String,
    text: String,
}

/// `say` answers with its text; `put` writes a file and answers with what was there; `reveal` tells the host path.
fn tools(tree: &Tree) -> ToolRegistry {
    let workdir = tree.workdir();
    let host_path = tree.path().display().to_string();
    let say = tool_fn("say", "Says.", Accesses::none(), |input: Say, _: CallContext| async move {
        if input.missing { Err(ToolError::not_found(input.text)) } else { Ok(input.text) }
    });
    let put = tool_fn("put", "Puts.", Accesses::none(), move |input: Put, _: CallContext| {
        let workdir = workdir.clone();
        async move {
            let path = workdir.resolve(&input.path).unwrap();
            let old = workdir.read(&path, 1024).unwrap_or_default();
            workdir.write_atomic(&path, input.text.as_bytes(), Existing::Replace).unwrap();
            Ok::<_, ToolError>(String::from_utf8_lossy(&old).into_owned())
        }
    });
    let reveal = tool_fn("reveal", "Reveals.", Accesses::none(), move |_: Say, _: CallContext| {
        let text = format!("it is {host_path}");
        async { Ok::<_, ToolError>(text) }
    });
    let registry = ToolRegistry::new().with(say.unwrap()).unwrap();
    registry.with(put.unwrap()).unwrap().with(reveal.unwrap()).unwrap()
}

/// Checks a page in a directory of its own; gives the report with the directory's path left out, and the page after it.
fn run(page: &str, mode: Mode) -> (Result<(), String>, String) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("page.md");
    fs::write(&path, page).unwrap();
    let result = check_page(&path, mode, &tools)
        .map_err(|report| report.replace(&format!("{}/", directory.path().display()), ""));
    (result, fs::read_to_string(&path).unwrap())
}

fn check(page: &str, report: &Expect) {
    let (result, text) = run(page, Mode::Compare);
    report.assert_eq(&result.err().unwrap_or_default());
    assert_eq!(text, page, "comparing leaves the page as it is");
}

fn check_update(page: &str, updated: &Expect) {
    let (result, text) = run(page, Mode::Update);
    assert_eq!(result, Ok(()));
    updated.assert_eq(&text);
    assert_eq!(run(&text, Mode::Compare), (Ok(()), text.clone()), "what was written is what is compared");
    assert_eq!(run(&text, Mode::Update), (Ok(()), text.clone()), "nothing is left to update");
}

fn check_malformed(page: &str, report: &Expect) {
    for mode in [Mode::Compare, Mode::Update] {
        let (result, text) = run(page, mode);
        report.assert_eq(&result.unwrap_err());
        assert_eq!(text, page);
    }
}

const GOOD: &str = r#"# A page

Prose, which is kept.

```file shared.txt
shared
```

## Reads what a case puts over the shared tree

```file shared.txt no-newline
mine
```

```call put
{"path": "shared.txt", "text": "a\r\nb\r\n"}
```

```reply ok
mine
```

```after shared.txt crlf
a
b
```

```call put
{"path": "other", "text": ""}
```

```reply ok
```

```after other
```

```after nothing absent
```

## Starts every case afresh

```call put
{"path": "shared.txt", "text": "\u0000"}
```

```reply ok
shared

```

```after shared.txt hex
00
```

## Fails in words

````call say
{"text": "```\nno\n```", "missing": true}
````

````reply error: not found
```
no
```
````
"#;

#[test]
fn passes_a_page_that_is_right_and_leaves_it_alone() {
    for mode in [Mode::Compare, Mode::Update] {
        assert_eq!(run(GOOD, mode), (Ok(()), GOOD.to_owned()));
    }
}

const WRONG: &str = r#"# A page

## Says

```call say
{"text": "one\ntwo\nthree"}
```
Some prose.

```reply error: not found
one
2
three
```

## Puts   twice
```call put
{"path": "a", "text": "new"}
```

```reply ok
```

```after a
old
```

```call say
{"text": "```"}
```

The end, without a line feed."#;

#[test]
fn shows_what_differs() {
    check(
        WRONG,
        &expect![[r"
            page.md:10: in the case `Says`: the reply of `say` differs:
            --- the page
            +++ the call
            @@ -1,4 +1,4 @@
            -reply error: not found
            +reply ok
             one
            -2
            +two
             three

            page.md:24: in the case `Puts   twice`: `a` is not as it should be after `put`:
            --- the page
            +++ the call
            @@ -1,2 +1,2 @@
            -after a
            -old
            +after a no-newline
            +new

            page.md:28: in the case `Puts   twice`: the call of `say` has no reply; it is:
            ````reply ok
            ```
            ````
            If this is as it should be, run the test with UPDATE_EXPECT=1 and review the change.
        "]],
    );
}

#[test]
fn updates_what_differs_and_keeps_the_rest() {
    check_update(
        WRONG,
        &expect![[r#"
            # A page

            ## Says

            ```call say
            {"text": "one\ntwo\nthree"}
            ```
            Some prose.

            ```reply ok
            one
            two
            three
            ```

            ## Puts   twice
            ```call put
            {"path": "a", "text": "new"}
            ```

            ```reply ok
            ```

            ```after a no-newline
            new
            ```

            ```call say
            {"text": "```"}
            ```

            ````reply ok
            ```
            ````

            The end, without a line feed."#]],
    );
}

#[test]
fn refuses_a_reply_that_tells_the_host_path() {
    let page = "# A\n## B\n```call reveal\n{\"text\": \"\"}\n```\n";
    for mode in [Mode::Compare, Mode::Update] {
        let (result, text) = run(page, mode);
        let report = result.unwrap_err();
        assert!(
            report
                .starts_with("page.md:3: in the case `B`: the reply of `reveal` tells the model a host path")
        );
        assert_eq!(text, page, "it cannot be accepted");
    }
}

#[test]
fn says_where_a_page_is_malformed() {
    check_malformed("prose", &expect![["page.md:1: a page starts with a title, `# …`\n"]]);
    check_malformed("# A\n", &expect![["page.md:1: a page has at least one case, `## …`\n"]]);
    check_malformed("# A\n# B\n", &expect![["page.md:2: a page has one title\n"]]);
    check_malformed("# A\n## B\n\n## C\n", &expect![["page.md:2: the case `B` has no call\n"]]);
    check_malformed("# A\n##\n", &expect![["page.md:2: a case needs a name\n"]]);
    check_malformed(
        "# A\n## B\n```call say\n1\n```\n## B\n",
        &expect![["page.md:6: there is a case `B` already\n"]],
    );
    check_malformed("# A\n```text\n\n", &expect![["page.md:2: this block has no closing fence\n"]]);
    check_malformed(
        "# A\n```text x\n```\n",
        &expect![[
            "page.md:2: `text x` is not a block of a page; use file, dir, link, call, reply or after, or `text` for prose\n"
        ]],
    );
    check_malformed(
        "# A\n\n  ```text\n",
        &expect![["page.md:3: a fence is made of backticks at the start of the line\n"]],
    );
    check_malformed(
        "# A\n~~~\n",
        &expect![["page.md:2: a fence is made of backticks at the start of the line\n"]],
    );
    check_malformed(
        "# A\n```replay ok\n```\n",
        &expect![[
            "page.md:2: `replay ok` is not a block of a page; use file, dir, link, call, reply or after, or `text` for prose\n"
        ]],
    );
    check_malformed(
        "# A\n```call say\n{}\n```\n",
        &expect![["page.md:2: a call stands behind a `##` heading\n"]],
    );
    check_malformed(
        "# A\n## B\n```call\n{}\n```\n",
        &expect![["page.md:3: a call names one tool: `call read_file`\n"]],
    );
    check_malformed(
        "# A\n## B\n```call say\n{\n\"a\":,}\n```\n",
        &expect![["page.md:5: the arguments are not JSON: expected value at line 2 column 5\n"]],
    );
    check_malformed("# A\n## B\n```reply ok\n```\n", &expect![["page.md:3: a reply stands behind a call\n"]]);
    check_malformed(
        "# A\n## B\n```call say\n1\n```\n```reply\n```\n",
        &expect![["page.md:6: a reply has a status: `reply ok`, `reply denied`, …\n"]],
    );
    check_malformed(
        "# A\n## B\n```call say\n1\n```\n```reply ok\n```\n```reply ok\n```\n",
        &expect![["page.md:8: a call has one reply, which stands right behind it\n"]],
    );
    check_malformed(
        "# A\n## B\n```call say\n1\n```\n```file a\n```\n",
        &expect![["page.md:6: the tree of a case stands before its first call\n"]],
    );
    check_malformed(
        "# A\n```after a\n```\n",
        &expect![["page.md:2: an `after` block stands behind a call\n"]],
    );
}

#[test]
fn says_which_word_of_a_block_is_wrong() {
    check_malformed("# A\n```file\n```\n", &expect![["page.md:2: the block names no path\n"]]);
    check_malformed(
        "# A\n```file ../a\n```\n",
        &expect![["page.md:2: a path of the tree is relative and has no `..`: `../a` is not\n"]],
    );
    check_malformed(
        "# A\n```file a crfl\n```\n",
        &expect![["page.md:2: `crfl` is not a flag here; use no-newline, crlf, hex or executable\n"]],
    );
    check_malformed(
        "# A\n```file a hex\n0\n```\n",
        &expect![["page.md:2: `0` is not made of pairs of hexadecimal digits\n"]],
    );
    check_malformed(
        "# A\n```file a hex crlf\n00\n```\n",
        &expect![["page.md:2: bytes in hexadecimal have no lines; leave out the other flags\n"]],
    );
    check_malformed(
        "# A\n```file a no-newline\n```\n",
        &expect![["page.md:2: a file without lines has no final newline to leave out\n"]],
    );
    check_malformed("# A\n```dir a b\n```\n", &expect![["page.md:2: `b` is one word too many\n"]]);
    check_malformed("# A\n```dir a\nb\n```\n", &expect![["page.md:2: a `dir` block is empty\n"]]);
    check_malformed(
        "# A\n```link a\n```\n",
        &expect![["page.md:2: a link has a target: `link PATH TARGET`\n"]],
    );
    check_malformed(
        "# A\n```after a gone\n```\n",
        &expect![["page.md:2: `gone` is not a flag here; use no-newline, crlf or hex, or absent alone\n"]],
    );
    check_malformed(
        "# A\n```after a absent\nb\n```\n",
        &expect![["page.md:2: the block of an absent file is empty\n"]],
    );
}

#[test]
fn wants_a_page() {
    let directory = TempDir::new().unwrap();
    let report = check_pages(directory.path(), Mode::Compare, &tools).unwrap_err();
    assert_eq!(report, format!("`{}` has no page (`*.md`) to check", directory.path().display()));
    let missing = directory.path().join("missing");
    assert!(
        check_pages(&missing, Mode::Compare, &tools).unwrap_err().starts_with("cannot list the pages of")
    );
}

#[test]
fn reports_every_page() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("b.md"), "# B\n").unwrap();
    fs::write(directory.path().join("a.md"), "# A\n").unwrap();
    fs::write(directory.path().join("c.md"), GOOD).unwrap();
    fs::write(directory.path().join("notes.txt"), "").unwrap();
    let report = check_pages(directory.path(), Mode::Compare, &tools).unwrap_err();
    let pages: Vec<&str> = report.lines().filter_map(|line| line.split('/').next_back()).collect();
    assert_eq!(
        pages,
        ["a.md:1: a page has at least one case, `## …`", "", "b.md:1: a page has at least one case, `## …`"]
    );
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("```".to_owned()),
        Just("~~~".to_owned()),
        Just("## x".to_owned()),
        "`{1,6}",
        "[a-zé\t ]{0,4}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_page_that_was_updated_passes(said in text(), put in text()) {
        let page = format!(
            "# A\n\n## B\n\n```call say\n{}\n```\n\n```call put\n{}\n```\n\n```reply ok\n```\n\n```after a absent\n```\nEnd",
            serde_json::json!({ "text": said }),
            serde_json::json!({ "path": "a", "text": put }),
        );
        let (result, updated) = run(&page, Mode::Update);
        prop_assert_eq!(result, Ok(()));
        prop_assert_eq!(run(&updated, Mode::Compare), (Ok(()), updated.clone()));
        prop_assert_eq!(run(&updated, Mode::Update), (Ok(()), updated.clone()));
        prop_assert!(updated.ends_with("```\nEnd"));
    }

    #[test]
    fn bytes_come_back_from_the_form_they_are_written_in(bytes in any::<Vec<u8>>(), text in text()) {
        for bytes in [bytes, text.into_bytes()] {
            let (form, body) = Form::encode(&bytes);
            prop_assert_eq!(form.decode(&body), Ok(bytes));
        }
    }

    #[test]
    fn no_page_makes_the_parser_panic(page in "(#{1,3} a\n|```(call|reply|after|file|dir|text) ?[a-z .]{0,4}\n|\\{\\}\n|```\n|\\PC{0,9}\n?){0,20}") {
        let _ = Page::parse(&page);
    }
}
