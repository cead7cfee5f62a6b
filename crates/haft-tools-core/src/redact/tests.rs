use super::*;
use haft_core::{Content, Progress, Repair, ReplyStatus};
use proptest::prelude::*;
use serde_json::json;

fn redactor<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Redactor {
    let redactor = Redactor::new();
    secrets.into_iter().for_each(|secret| redactor.add(secret).unwrap());
    redactor
}

fn streamed<'a>(redactor: &Redactor, pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut stream = redactor.stream();
    let mut text: String = pieces.into_iter().map(|piece| stream.push(piece.to_owned())).collect();
    text.push_str(&stream.finish());
    text
}

#[test]
fn what_is_too_short_or_too_long_is_no_secret() {
    let refused = |secret: &str| Redactor::new().add(secret).unwrap_err().to_string();
    assert_eq!(refused(" abc\n"), "a secret has at least 4 bytes beside white space around it, not 3");
    assert_eq!(refused(""), "a secret has at least 4 bytes beside white space around it, not 0");
    assert_eq!(refused(&"x".repeat(65_537)), "a secret has at most 65536 bytes, not 65537");
    assert!(Redactor::new().add("éé").is_ok());
}

#[test]
fn without_a_secret_nothing_is_copied() {
    assert!(Redactor::new().is_empty());
    assert!(matches!(Redactor::new().redact("text"), Cow::Borrowed("text")));
    assert!(matches!(redactor(["secret"]).redact("text"), Cow::Borrowed("text")));
}

#[test]
fn the_first_and_longest_secret_is_replaced() {
    let redactor = redactor(["token", "token-of-mine", "mine-too", "token\n"]);
    assert_eq!(redactor.redact("token-of-mine-too token-of"), "[redacted]-too [redacted]-of");
    assert_eq!(redactor.redact("tokentoken"), "[redacted][redacted]");
}

#[test]
fn a_secret_is_found_as_json_writes_it() {
    let redactor = redactor(["pass\"word\nline"]);
    let written = json!({ "p": "pass\"word\nline" }).to_string();
    assert_eq!(redactor.redact(&written), r#"{"p":"[redacted]"}"#);
    assert_eq!(redactor.redact("pass\"word\nline"), "[redacted]");
}

#[test]
fn a_secret_is_found_however_json_and_lines_are_written() {
    let redactor = redactor(["pâss/word\nlast €😀"]);
    for written in [
        r"pâss\/word\nlast €😀",
        r"p\u00e2ss/word\nlast \u20ac\ud83d\ude00",
        r"p\u00E2ss\/word\r\nlast \u20AC\uD83D\uDE00",
        "pâss/word\r\nlast €😀",
    ] {
        assert_eq!(redactor.redact(written), "[redacted]", "{written}");
    }
}

#[test]
fn a_secret_of_several_lines_is_found_line_by_line() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG/9w0BAQEFAASC\nshort\nQzE5MTk1OTE5MTkxOTE5\n-----END PRIVATE KEY-----\n";
    let redactor = redactor([key]);
    assert_eq!(redactor.redact(key), "[redacted]\n");
    let numbered = "1\t-----BEGIN PRIVATE KEY-----\n2\tMIIEvQIBADANBgkqhkiG/9w0BAQEFAASC\n3\tshort\n4\tQzE5MTk1OTE5MTkxOTE5";
    let told = "1\t-----BEGIN PRIVATE KEY-----\n2\t[redacted]\n3\tshort\n4\t[redacted]";
    assert_eq!(redactor.redact(numbered), told);
    assert_eq!(redactor.redact(r"MIIEvQIBADANBgkqhkiG\/9w0BAQEFAASC"), "[redacted]");
}

#[test]
fn a_number_with_a_secret_is_replaced_as_a_whole() {
    let mut value = json!({ "pin": 90_210_042, "more": [-190_210_042.5, 9021], "text": "is 90210042" });
    redactor(["90210042"]).redact_value(&mut value);
    assert_eq!(value, json!({ "pin": "[redacted]", "more": ["[redacted]", 9021], "text": "is [redacted]" }));
}

#[test]
fn a_secret_that_is_known_changes_nothing() {
    let redactor = redactor(["hunter2", "pass\"word"]);
    let before = redactor.secrets().unwrap();
    redactor.add(" hunter2\n").unwrap();
    assert!(Arc::ptr_eq(&before, &redactor.secrets().unwrap()));
    // One is how JSON writes the other, and is written otherwise itself.
    redactor.add("pass\\\"word").unwrap();
    assert!(!Arc::ptr_eq(&before, &redactor.secrets().unwrap()));
}

#[test]
fn the_end_of_a_text_tells_no_end_of_a_secret() {
    let redactor = redactor(["hunter2", "sesame-sesame"]);
    let text = format!("{}hunter2, hunter2!", "x".repeat(100));
    let tails = [0, 3, 9, 10, 20, 25].map(|most| redactor.redact_tail(&text, most));
    assert_eq!(
        tails,
        ["", "d]!", "edacted]!", "redacted]!", "dacted], [redacted]!", "xx[redacted], [redacted]!"]
    );
}

#[test]
fn a_secret_that_a_text_and_a_document_share_is_found_and_held_back() {
    let document = |text: &str| Content::Resource {
        uri: "file:a".into(),
        mime_type: None,
        text: Some(text.into()),
        data: None,
    };
    let redactor = redactor(["hunter2"]);
    let mut output = ToolOutput::new(vec![Content::text("a hun"), document("ter2 b")]);
    redactor.redact_output(&mut output);
    assert_eq!(output.content, [Content::text("a [redacted]"), document(" b")]);

    let output = ToolOutput::new(vec![Content::text("a h"), document("unt"), Content::text("er")]);
    let mut event = EventKind::Updated { output };
    redactor.redact_event(&mut event);
    let output = ToolOutput::new(vec![Content::text("a "), document(""), Content::text("")]);
    assert_eq!(event, EventKind::Updated { output });
}

#[test]
fn names_that_become_the_same_are_kept_apart() {
    let mut value =
        json!({ "secret1": 1, "secret2": { "secret1": "a secret2" }, "[redacted]": [0, "secret1"] });
    redactor(["secret1", "secret2"]).redact_value(&mut value);
    let expected = json!({
        "[redacted]": [0, "[redacted]"],
        "[redacted] (2)": 1,
        "[redacted] (3)": { "[redacted]": "a [redacted]" },
    });
    assert_eq!(value, expected);
}

#[test]
fn every_part_of_an_output_is_redacted() {
    let mut output = ToolOutput::new(vec![
        Content::text("hunter2"),
        Content::json(json!({ "hunter2": ["hunter2"] })),
        Content::Resource {
            uri: "https://hunter2@host".into(),
            mime_type: Some("hunter2/x".into()),
            text: Some("a hunter2".into()),
            data: None,
        },
        Content::ResourceLink {
            uri: "x:hunter2".into(),
            name: "hunter2".into(),
            mime_type: None,
            size: None,
        },
    ])
    .with_structured(json!("hunter2"))
    .with_details(json!({ "env": "hunter2" }));
    redactor(["hunter2"]).redact_output(&mut output);
    let written = serde_json::to_string(&output).unwrap();
    assert!(!written.contains("hunter2"), "{written}");
    assert_eq!(written.matches("[redacted]").count(), 10, "{written}");
}

#[test]
fn a_secret_that_parts_share_is_found() {
    let texts = |parts: &[&str]| {
        let mut output = ToolOutput::new(parts.iter().map(|part| Content::text(*part)).collect());
        redactor(["hunter2", "2 and"]).redact_output(&mut output);
        output.content.iter().map(|part| part.as_text().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&["it is hun", "ter2, you see"]), ["it is [redacted]", ", you see"]);
    assert_eq!(
        texts(&["hu", "nt", "", "er2", "hunter", "2 and"]),
        ["[redacted]", "", "", "", "[redacted]", " and"]
    );
    assert_eq!(texts(&["hunter", "x", "2"]), ["hunter", "x", "2"]);
}

#[test]
fn what_events_tell_is_redacted() {
    let mut reply = ToolReply::new("c1".parse().unwrap(), "t", ReplyStatus::Ok, "hunter2".into());
    reply.repairs = vec![Repair::new("/hunter2", json!("hunter2"), Some(json!(["hunter2"])), "read hunter2")];
    let events = [
        EventKind::TextDelta { text: "hunter2".into() },
        EventKind::ReasoningDelta { text: "hunter2".into() },
        EventKind::Started { name: "hunter2".into(), input: json!({ "hunter2": "hunter2" }) },
        EventKind::Decided { decision: haft_core::Decision::Deny, reason: "hunter2".into() },
        EventKind::ApprovalRequested { accesses: vec!["file:hunter2".into()], preview: "$ hunter2".into() },
        EventKind::Updated { output: "hunter2".into() },
        EventKind::Progressed { progress: Progress::from("hunter2") },
        EventKind::Finished { reply: Box::new(reply) },
        EventKind::Retried { attempt: 1, reason: "hunter2".into() },
        EventKind::AbandonedEnded { name: "hunter2".into(), after_ms: 1 },
        EventKind::SourceFailed { source: "hunter2".into(), reason: "no hunter2".into() },
    ];
    let redactor = redactor(["hunter2"]);
    for mut event in events {
        redactor.redact_event(&mut event);
        let written = serde_json::to_string(&event).unwrap();
        assert!(!written.contains("hunter2") && written.contains("[redacted]"), "{written}");
    }
}

#[test]
fn whoever_emits_an_event_every_redactor_given_to_the_events_is_used() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let observer = move |event: &haft_core::Event| sink.lock().unwrap().push(event.kind.clone());
    let events = crate::Events::new([Arc::new(observer) as _]);
    for secret in ["hunter2", "sesame"] {
        events.redacted_by(&redactor([secret]));
        events.redacted_by(&Redactor::new());
    }
    let scope = crate::CallScope::new("run-1".parse().unwrap());
    let failed = |reason: &str| EventKind::SourceFailed { source: "s".into(), reason: reason.into() };
    events.clone().emit(&scope, None, || failed("hunter2, sesame"));
    assert_eq!(*seen.lock().unwrap(), [failed("[redacted], [redacted]")]);
    let mut stream = events.redacted_stream();
    let given = ["hunte", "r2 ses", "ame ses"].map(|piece| stream.push(piece.to_owned()));
    assert_eq!(
        (given, stream.finish()),
        (["", "[redacted] ", "[redacted] "].map(String::from), "ses".into())
    );
}

#[test]
fn a_secret_that_is_registered_later_is_found_from_then_on() {
    let redactor = Redactor::new();
    let clone = redactor.clone();
    let mut stream = redactor.stream();
    assert_eq!(stream.push("hunter2 ".to_owned()), "hunter2 ");
    clone.add("hunter2").unwrap();
    assert_eq!(stream.push("hunter2 hunt".to_owned()), "[redacted] ");
    assert_eq!(stream.finish(), "hunt");
    assert_eq!(
        format!("{redactor:?} {:?}", redactor.stream()),
        "Redactor(secrets) RedactedStream(0 bytes held back)"
    );
}

#[test]
fn a_stream_holds_back_no_more_than_it_must() {
    let mut stream = redactor(["hunter2", "unterwegs"]).stream();
    let given = ["x hunt", "er", "weg", "s hunter", "3"].map(|piece| stream.push(piece.to_owned()));
    assert_eq!(given, ["x ", "", "h", "[redacted] ", "hunter3"]);
}

proptest! {
    #[test]
    fn a_stream_gives_what_the_whole_would(
        text in "[abé]{0,60}",
        secrets in prop::collection::vec("[abé]{4,7}", 0..5),
        cuts in prop::collection::vec(0usize..60, 0..12),
    ) {
        let redactor = redactor(secrets.iter().map(String::as_str));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
        prop_assert_eq!(streamed(&redactor, pieces.clone()), redactor.redact(&text));

        for most in 0..20 {
            let tail = redactor.redact_tail(&text, most);
            prop_assert!(tail.len() <= most && secrets.iter().all(|secret| !tail.contains(secret.as_str())));
        }

        let mut parts = ToolOutput::new(pieces.map(Content::text).collect());
        redactor.redact_output(&mut parts);
        let joined: String = parts.content.iter().filter_map(Content::as_text).collect();
        prop_assert_eq!(joined, redactor.redact(&text));
    }
}
