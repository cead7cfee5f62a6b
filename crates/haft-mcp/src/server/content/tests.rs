use super::answer::CallAnswer;
#[cfg(feature = "client")]
use super::block::Block;
use super::output_address::{OutputAddress, Part};
use super::output_reader::{OutputPart, Unread, read as read_output};
use expect_test::{Expect, expect};
use haft_core::{Blob, CallId, Content, ErrorKind, OutputId, ReplyStatus, ToolOutput, ToolReply, Truncation};
use haft_tools_core::{CallScope, LocalOutputs, OutputStore as _, Retention};
use proptest::prelude::*;
use serde_json::json;
use std::fmt::Write as _;

fn scope(run: &str) -> CallScope {
    CallScope::new(run.parse().unwrap())
}

fn reply(status: ReplyStatus, output: ToolOutput) -> ToolReply {
    ToolReply::new("c1".parse().unwrap(), "tool", status, output)
}

/// Writes an answer as the protocol has it.
fn written(answer: &CallAnswer) -> String {
    let CallAnswer { blocks, structured, is_error } = answer;
    let mut told = String::new();
    for block in blocks {
        let _ = writeln!(told, "{}", serde_json::to_string(block).unwrap());
    }
    if let Some(structured) = structured {
        let _ = writeln!(told, "structured {structured}");
    }
    told + if *is_error { "is an error\n" } else { "" }
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(output: ToolOutput, has_schema: bool, expected: Expect) {
    let answer = CallAnswer::of(reply(ReplyStatus::Ok, output), has_schema, &scope("mcp-1"));
    expected.assert_eq(&written(&answer));
}

#[test]
fn every_kind_of_content_is_written_as_the_protocol_has_it() {
    let resource = |text: Option<&str>, data: Option<&[u8]>| Content::Resource {
        uri: "test://r".to_owned(),
        mime_type: text.map(|_| "text/plain".to_owned()),
        text: text.map(str::to_owned),
        data: data.map(|data| Blob::from(data.to_vec())),
    };
    let link = Content::ResourceLink {
        uri: "test://l".to_owned(),
        name: "l".to_owned(),
        mime_type: None,
        size: Some(7),
    };
    let output = ToolOutput::new(vec![
        Content::text("hello"),
        Content::json(json!({ "a": [1] })),
        Content::image(b"png".to_vec(), "image/png"),
        Content::audio(b"wav".to_vec(), "audio/wav"),
        resource(Some("text"), None),
        resource(None, Some(b"data")),
        resource(None, None),
        link,
    ]);
    check(
        output.with_details(json!({ "host": "only" })),
        false,
        expect![[r#"
        {"type":"text","text":"hello"}
        {"type":"text","text":"{\"a\":[1]}"}
        {"type":"image","data":"cG5n","mimeType":"image/png"}
        {"type":"audio","data":"d2F2","mimeType":"audio/wav"}
        {"type":"resource","resource":{"uri":"test://r","mimeType":"text/plain","text":"text"}}
        {"type":"resource","resource":{"uri":"test://r","blob":"ZGF0YQ=="}}
        {"type":"resource","resource":{"uri":"test://r","text":""}}
        {"type":"resource_link","uri":"test://l","name":"l","size":7}
    "#]],
    );
}

#[test]
fn data_is_told_as_text_too_and_only_once() {
    check(
        ToolOutput::json(json!({ "n": 5 })),
        true,
        expect![[r#"
        {"type":"text","text":"{\"n\":5}"}
        structured {"n":5}
    "#]],
    );
    check(
        ToolOutput::text("five").with_structured(json!({ "n": 5 })),
        true,
        expect![[r#"
        {"type":"text","text":"five"}
        {"type":"text","text":"{\"n\":5}"}
        structured {"n":5}
    "#]],
    );
    check(
        ToolOutput::text("{ \"n\": 5 }").with_structured(json!({ "n": 5 })),
        false,
        expect![[r#"
        {"type":"text","text":"{ \"n\": 5 }"}
        structured {"n":5}
    "#]],
    );
    // Clients of the older era take objects alone.
    check(
        ToolOutput::json(json!([1, 2])),
        false,
        expect![[r#"
        {"type":"text","text":"[1,2]"}
    "#]],
    );
    check(ToolOutput::new(Vec::new()), false, expect![""]);
    check(
        ToolOutput::new(Vec::new()).with_structured(json!({})),
        true,
        expect![[r#"
        {"type":"text","text":"{}"}
        structured {}
    "#]],
    );
}

#[test]
fn data_that_was_left_out_does_not_lose_the_rest() {
    check(
        ToolOutput::text("[the result as data is left out]"),
        true,
        expect![[r#"
        {"type":"text","text":"[the tool has run, and its result as data is left out, since it is too large: it is reported as an error only because of that; do not repeat the call, but read what is below]"}
        {"type":"text","text":"[the result as data is left out]"}
        is an error
    "#]],
    );
}

#[test]
fn what_went_wrong_is_an_error_without_data() {
    let scope = scope("mcp-1");
    let mut told = String::new();
    for status in [
        ReplyStatus::Error(ErrorKind::Failed),
        ReplyStatus::Error(ErrorKind::UnknownTool),
        ReplyStatus::Denied,
        ReplyStatus::Cancelled,
        ReplyStatus::TimedOut,
        ReplyStatus::Skipped,
    ] {
        let output = ToolOutput::text(format!("it is {status}")).with_structured(json!({ "n": 5 }));
        told += &written(&CallAnswer::of(reply(status, output), true, &scope));
    }
    told += &written(&CallAnswer::of(reply(ReplyStatus::Denied, ToolOutput::new(Vec::new())), false, &scope));
    expect![[r#"
        {"type":"text","text":"it is error: failed"}
        is an error
        {"type":"text","text":"it is error: unknown tool"}
        is an error
        {"type":"text","text":"it is denied"}
        is an error
        {"type":"text","text":"it is cancelled"}
        is an error
        {"type":"text","text":"it is timed out"}
        is an error
        {"type":"text","text":"it is skipped"}
        is an error
        {"type":"text","text":"the call ended without a word: denied"}
        is an error
    "#]]
    .assert_eq(&told);
}

#[test]
fn what_was_cut_can_be_reached() {
    let mut cut = reply(ReplyStatus::Ok, ToolOutput::text("head … tail"));
    cut.truncation = Some(Truncation::new(100_000, 32_768).with_output(Some("o1".parse().unwrap())));
    expect![[r#"
        {"type":"text","text":"head … tail"}
        {"type":"resource_link","uri":"haft-output://mcp-1/o1","name":"o1","description":"The whole of what was cut; `?lines=1-200` or `?bytes=0-65535` behind the address gives a part.","mimeType":"text/plain","size":100000}
    "#]].assert_eq(&written(&CallAnswer::of(cut.clone(), false, &scope("mcp-1"))));
    cut.truncation = Some(Truncation::new(100_000, 32_768));
    expect![[r#"
        {"type":"text","text":"head … tail"}
    "#]]
    .assert_eq(&written(&CallAnswer::of(cut, false, &scope("mcp-1"))));
}

/// Is a store with one text, stored for the run `mcp-1`.
async fn stored(text: &str) -> (LocalOutputs, OutputId) {
    let outputs = LocalOutputs::in_memory();
    let call: CallId = "c1".parse().unwrap();
    let id = outputs.store(&scope("mcp-1"), &call, text.to_owned()).await.unwrap();
    (outputs, id)
}

async fn read(text: &str, part: &str) -> Result<OutputPart, Unread> {
    let (outputs, id) = stored(text).await;
    read_output(&format!("haft-output://mcp-1/{id}{part}"), &scope("mcp-1"), Some(&outputs)).await
}

#[tokio::test]
async fn parts_are_read_by_lines_and_bytes() {
    let text = "one\ntwö\nthree\nfour";
    let mut told = String::new();
    for part in [
        "",
        "?",
        "?lines=1-1",
        "?lines=2-3",
        "?lines=3-",
        "?lines=4-9",
        "?lines=5-",
        "?lines=0-1",
        "?lines=3-2",
        "?bytes=0-2",
        "?bytes=4-",
        "?bytes=6-6",
        "?bytes=7-9",
        "?bytes=0-6",
        "?bytes=19-",
        "?bytes=99-",
        "?bytes=-5",
        "?bytes=5",
        "?bytes=1-x",
        "?lines=+1-2",
        "?bytes=0-99999999999999999999",
        "?rows=1-2",
        "?lines=1-2&bytes=1-2",
    ] {
        let line = match read(text, part).await {
            Ok(OutputPart { uri, text, next, total_bytes: 19, total_lines: 4 }) => {
                format!(
                    "{part:13} {text:?} of {uri}{}\n",
                    next.map(|next| format!(", then {next}")).unwrap_or_default()
                )
            }
            Ok(part) => panic!("{part:?}"),
            Err(unread) => format!("{part:13} {unread}\n"),
        };
        told.push_str(&line);
    }
    expect![[r#"
                      "one\ntwö\nthree\nfour" of haft-output://mcp-1/o1
        ?             "one\ntwö\nthree\nfour" of haft-output://mcp-1/o1
        ?lines=1-1    "one\n" of haft-output://mcp-1/o1?lines=1-1
        ?lines=2-3    "twö\nthree\n" of haft-output://mcp-1/o1?lines=2-3
        ?lines=3-     "three\nfour" of haft-output://mcp-1/o1?lines=3-4
        ?lines=4-9    "four" of haft-output://mcp-1/o1?lines=4-4
        ?lines=5-     the output has 4 lines and 19 bytes; ask for some of these
        ?lines=0-1    write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?lines=3-2    write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?bytes=0-2    "one" of haft-output://mcp-1/o1?bytes=0-2
        ?bytes=4-     "twö\nthree\nfour" of haft-output://mcp-1/o1?bytes=4-18
        ?bytes=6-6    "ö" of haft-output://mcp-1/o1?bytes=6-7
        ?bytes=7-9    "\nt" of haft-output://mcp-1/o1?bytes=8-9
        ?bytes=0-6    "one\ntwö" of haft-output://mcp-1/o1?bytes=0-7
        ?bytes=19-    the output has 4 lines and 19 bytes; ask for some of these
        ?bytes=99-    the output has 4 lines and 19 bytes; ask for some of these
        ?bytes=-5     write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?bytes=5      write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?bytes=1-x    write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?lines=+1-2   write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?bytes=0-99999999999999999999 write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?rows=1-2     write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
        ?lines=1-2&bytes=1-2 write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn a_range_in_which_no_character_begins_is_empty() {
    assert_eq!(read("👩", "?bytes=1-1").await.unwrap().text, "");
    assert_eq!(read("👩a", "?bytes=1-4").await.unwrap().text, "a");
}

#[tokio::test]
async fn an_empty_output_is_empty() {
    assert_eq!(read("", "").await.unwrap().text, "");
    assert_eq!(read("", "?lines=1-").await, Err(Unread::Beyond { lines: 0, bytes: 0 }));
}

#[tokio::test]
async fn nobody_reads_the_outputs_of_others() {
    let (outputs, id) = stored("secret").await;
    let (own, other) = (scope("mcp-1"), scope("mcp-2"));
    let of = |run: &str| format!("haft-output://{run}/{id}");
    assert_eq!(read_output(&of("mcp-1"), &own, Some(&outputs)).await.unwrap().text, "secret");
    let tries = [
        (of("mcp-1"), &other),
        (of("mcp-2"), &other),
        (of("mcp-2"), &own),
        (of("mcp-1").replace("haft-output", "HAFT-OUTPUT"), &own),
        ("haft-output://mcp-1/o999".to_owned(), &own),
        ("haft-output://mcp-1".to_owned(), &own),
        ("haft-output://mcp-1/".to_owned(), &own),
        ("haft-output:///o1".to_owned(), &own),
        (format!("haft-output://mcp-1/../mcp-1/{id}"), &own),
        (format!("haft-output://mcp-1/{id}%"), &own),
        (format!("haft-output://mcp-1/{id}%00"), &own),
        (format!("haft-output://mcp-1/{id}%ff"), &own),
        (format!("haft-output://mcp-1/{}", "x".repeat(1 << 20)), &own),
        ("file:///etc/passwd".to_owned(), &own),
    ];
    for (uri, scope) in tries {
        assert_eq!(read_output(&uri, scope, Some(&outputs)).await, Err(Unread::Unknown), "{uri:.60}");
    }
    assert_eq!(read_output(&of("mcp-1"), &own, None).await, Err(Unread::Unknown));
    // A run that the caller's run started is another run.
    let child = own.child("mcp-1-child".parse().unwrap());
    let of_child = outputs.store(&child, &"c2".parse().unwrap(), "child's".to_owned()).await.unwrap();
    let uri = format!("haft-output://mcp-1-child/{of_child}");
    assert_eq!(read_output(&uri, &own, Some(&outputs)).await, Err(Unread::Unknown));
}

#[tokio::test]
async fn what_is_no_longer_kept_is_said_to_be_gone() {
    let outputs = LocalOutputs::in_memory().retention(Retention { outputs: 1, ..Retention::default() });
    let (scope, call) = (scope("mcp-1"), "c1".parse().unwrap());
    let first = outputs.store(&scope, &call, "first".to_owned()).await.unwrap();
    outputs.store(&scope, &call, "second".to_owned()).await.unwrap();
    let uri = format!("haft-output://mcp-1/{first}");
    assert_eq!(read_output(&uri, &scope, Some(&outputs)).await, Err(Unread::Gone));
}

/// Reads from an address to the end, as a client does that follows where it goes on.
async fn follow(text: &str, part: &str) -> String {
    let (outputs, id) = stored(text).await;
    let scope = scope("mcp-1");
    let (mut whole, mut next) = (String::new(), Some(format!("haft-output://mcp-1/{id}{part}")));
    while let Some(uri) = next {
        let part = read_output(&uri, &scope, Some(&outputs)).await.unwrap();
        assert!(
            part.text.len() <= (256 << 10) + 3 && !part.text.is_empty(),
            "{uri} gives {}",
            part.text.len()
        );
        // What is given is what its own address gives.
        let again = read_output(&part.uri, &scope, Some(&outputs)).await.unwrap();
        assert_eq!(again.text.len(), part.text.len(), "{uri} gives {}", part.uri);
        whole += &part.text;
        next = part.next;
    }
    whole
}

#[tokio::test]
async fn a_large_output_is_read_part_by_part() {
    let lines: String = (0..60_000).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "line {line} of a läng text");
        text
    });
    for text in [lines.clone(), "ö".repeat(400_000), format!("a\n{}\nb\n", "ü".repeat(300_000))] {
        for part in ["", "?bytes=0-", "?lines=1-"] {
            assert!(follow(&text, part).await == text, "{part} of {text:.10}");
        }
    }
    let tail = lines.split_inclusive('\n').skip(50_000).collect::<String>();
    assert!(follow(&lines, "?lines=50001-").await == tail);
}

#[test]
fn an_address_leads_back_to_what_it_was_made_of() {
    let address = OutputAddress::of("run /?%\u{e9}#1".parse().unwrap(), "o/1".parse().unwrap());
    assert_eq!(address.to_string(), "haft-output://run%20%2F%3F%25%C3%A9%231/o%2F1");
    assert_eq!(OutputAddress::read(&address.to_string()), Ok(address));
}

fn name() -> impl Strategy<Value = String> {
    "\\PC{1,40}".prop_filter("no control characters", |name| !name.chars().any(char::is_control))
}

fn part() -> impl Strategy<Value = Part> {
    let range = (1..u64::MAX / 2, proptest::option::of(0..u64::MAX / 2));
    prop_oneof![
        Just(Part::Whole),
        range.clone().prop_map(|(first, more)| Part::Lines(first, more.map(|more| first + more))),
        range.prop_map(|(first, more)| Part::Bytes(first, more.map(|more| first + more))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Every address is read as what it was made of.
    #[test]
    fn addresses_lead_back(run in name(), output in name(), part in part()) {
        let address = OutputAddress::of(run.parse().unwrap(), output.parse().unwrap()).with(part);
        prop_assert_eq!(OutputAddress::read(&address.to_string()), Ok(address));
    }

    /// Nothing that is asked for breaks anything, and what is given is of the text.
    #[test]
    fn any_part_of_any_text_is_of_it(
        text in "[a\nö👩]{0,40}",
        unit in "lines|bytes",
        first in 0_u64..50,
        last in proptest::option::of(0_u64..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let last = last.map(|last| last.to_string()).unwrap_or_default();
        if let Ok(part) = runtime.block_on(read(&text, &format!("?{unit}={first}-{last}"))) {
            prop_assert!(text.contains(&part.text), "{:?}", part);
        }
        let _ = runtime.block_on(read(&text, &format!("?{text}")));
    }

    /// What was parsed of a foreign address is never another run's or output's than it says.
    #[test]
    fn foreign_addresses_break_nothing(uri in "(haft-output://)?\\PC{0,60}") {
        if let Ok(address) = OutputAddress::read(&uri) {
            prop_assert_eq!(OutputAddress::read(&address.to_string()), Ok(address));
        }
    }

    /// A client reads what was written as what it was, but for JSON, which is text there.
    #[test]
    #[cfg(feature = "client")]
    fn clients_read_what_is_written(text in any::<String>(), data in any::<Vec<u8>>(), which in 0..6) {
        let (uri, mime_type) = (format!("test://{which}"), "image/png".to_owned());
        let content = match which {
            0 => Content::text(text),
            1 => Content::image(data, mime_type),
            2 => Content::audio(data, mime_type),
            3 => Content::Resource { uri, mime_type: Some(mime_type), text: Some(text), data: None },
            4 => Content::Resource { uri, mime_type: None, text: None, data: Some(data.into()) },
            _ => Content::ResourceLink { uri, name: text, mime_type: None, size: Some(data.len() as u64) },
        };
        let block = serde_json::to_value(Block::from(content.clone())).unwrap();
        prop_assert_eq!(crate::client::read_block(block).unwrap(), content);
    }
}
