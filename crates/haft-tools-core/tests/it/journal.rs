use crate::fixture::{call, read, resource, spec, write};
use expect_test::{Expect, expect};
use haft_core::{Digest, ErrorKind, Origin, ReplyStatus, ToolReply, Truncation};
use haft_tools_core::{
    Access, AccessMode, Accesses, CallJournal, CallScope, DecidedBy, Journal, JournalEntry, JournalError,
    JournalReader, JournalRecord, JournalSink, JsonlJournal, MemoryJournal, PersonAnswer, Policy, Redactor,
    Resource, Rule, milliseconds, now_ms,
};
use proptest::prelude::*;
use serde_json::json;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn scope() -> CallScope {
    CallScope::new("run-1".parse().unwrap()).child("run-2".parse().unwrap()).with_agent("explorer")
}

/// Follows a call of this name up to where it would run.
fn follow(journal: &Journal, name: &str) -> CallJournal {
    let mut following = journal.call(&scope(), &call("c1", name, json!({ "secret": "hunter2" })));
    following.resolved(&spec("edit_file"));
    following
        .prepared(&Accesses::from([read("file:a"), write("file:a")]), || Digest::of(&json!({ "path": "a" })));
    following
}

fn reply(status: ReplyStatus, output: &str) -> ToolReply {
    let mut reply = ToolReply::new("c1".parse().unwrap(), "edit_file", status, output.into());
    reply.duration = Duration::from_micros(1_500);
    reply
}

fn in_memory() -> (Arc<MemoryJournal>, Journal) {
    let memory = Arc::new(MemoryJournal::default());
    (Arc::clone(&memory), Journal::new(memory))
}

/// Compares the records as they are written to a file, but for the times.
fn check(memory: &MemoryJournal, expected: Expect) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.jsonl");
    let jsonl = JsonlJournal::open(&path).unwrap();
    let mut records = memory.records();
    for record in &mut records {
        let record = Arc::make_mut(record);
        record.at_ms = 1_700_000_000_000;
        if let JournalEntry::Ended { ran_us: Some(ran), .. } = &mut record.entry {
            *ran = 1_200;
        }
        jsonl.write(record).unwrap();
    }
    expected.assert_eq(&std::fs::read_to_string(&path).unwrap());
    let again: Vec<_> = JsonlJournal::read(&path).unwrap().map(|record| Arc::new(record.unwrap())).collect();
    assert_eq!(again, records);
}

#[test]
fn a_call_that_runs_leaves_two_records_that_each_say_all() {
    let (memory, journal) = in_memory();
    let mut following = follow(&journal, "edit_file");
    let accesses = Accesses::from([read("file:a"), write("file:a")]);
    let policy = Policy::new()
        .allow(Rule::access(AccessMode::Read, resource("file:**")))
        .allow(Rule::access(AccessMode::Write, resource("file:a")));
    following.decided(|| DecidedBy::verdicts(&policy.explain(&spec("edit_file"), &accesses)));
    following.begun().unwrap();
    let mut reply = reply(ReplyStatus::Ok, "done");
    reply.truncation = Some(Truncation::new(1_003, 3));
    following.ended(&reply).unwrap();
    check(
        &memory,
        expect![[r#"
            {"version":1,"record":"begun","sequence":0,"at_ms":1700000000000,"run":"run-2","parent_run":"run-1","agent":"explorer","call":"c1","called_as":"edit_file","tool":"edit_file","origin":{"kind":"host"},"accesses":["read file:a","write file:a"],"decided":{"by":"rule","decision":"allow","rules":["read(file:**)","write(file:a)"]},"digest":"e62b11efe660f3c42f087ce4470a6989242eb54dffebcc80668e54f8bdf4f1bf"}
            {"version":1,"record":"ended","ran":true,"status":"ok","duration_us":1500,"ran_us":1200,"bytes_total":1003,"bytes_kept":4,"sequence":1,"at_ms":1700000000000,"run":"run-2","parent_run":"run-1","agent":"explorer","call":"c1","called_as":"edit_file","tool":"edit_file","origin":{"kind":"host"},"accesses":["read file:a","write file:a"],"decided":{"by":"rule","decision":"allow","rules":["read(file:**)","write(file:a)"]},"digest":"e62b11efe660f3c42f087ce4470a6989242eb54dffebcc80668e54f8bdf4f1bf"}
        "#]],
    );
}

#[test]
fn a_call_that_does_not_run_leaves_its_end_alone() {
    let (memory, journal) = in_memory();
    let mut denied = follow(&journal, "edit");
    denied.decided(|| DecidedBy::person(PersonAnswer::Denied, "not now"));
    denied.ended(&reply(ReplyStatus::Denied, "no")).unwrap();
    let mut unknown = journal.call(&scope(), &call("c2", "edti\u{1b}[2J\u{202e}\u{e0041}", json!({})));
    unknown.ended(&reply(ReplyStatus::Error(ErrorKind::UnknownTool), "there is no such tool")).unwrap();
    check(
        &memory,
        expect![[r#"
            {"version":1,"record":"ended","ran":false,"status":"denied","duration_us":1500,"bytes_total":2,"bytes_kept":2,"sequence":0,"at_ms":1700000000000,"run":"run-2","parent_run":"run-1","agent":"explorer","call":"c1","called_as":"edit","tool":"edit_file","origin":{"kind":"host"},"accesses":["read file:a","write file:a"],"decided":{"by":"person","answer":"denied","reason":"not now"},"digest":"e62b11efe660f3c42f087ce4470a6989242eb54dffebcc80668e54f8bdf4f1bf"}
            {"version":1,"record":"ended","ran":false,"status":{"error":"unknown_tool"},"duration_us":1500,"bytes_total":21,"bytes_kept":21,"sequence":1,"at_ms":1700000000000,"run":"run-2","parent_run":"run-1","agent":"explorer","call":"c2","called_as":"edti\u001b[2J\u202e\udb40\udc41","decided":{"by":"nobody"}}
        "#]],
    );
}

#[test]
fn each_way_to_decide_has_a_form_of_its_own() {
    let policy = Policy::new()
        .allow(Rule::tools("*".parse().unwrap()))
        .ask(Rule::access(AccessMode::Write, resource("file:**")))
        .deny(Rule::access(AccessMode::Write, resource("file:.env")));
    let by = |policy: &Policy, accesses| DecidedBy::verdicts(&policy.explain(&spec("t"), &accesses));
    let ways = [
        by(&Policy::new(), Accesses::none()),
        by(&Policy::new(), Access::opaque("a script").into()),
        by(&policy, [Access::opaque("a script"), read("file:a")].into()),
        by(&policy, [read("file:a"), write("file:a")].into()),
        by(&policy, [write("file:a"), write("file:.env")].into()),
        DecidedBy::person(PersonAnswer::Approved, ""),
        DecidedBy::person(PersonAnswer::ApprovedEdited, ""),
        DecidedBy::person(PersonAnswer::Denied, "not now"),
        DecidedBy::layer("the hook says no"),
        DecidedBy::Nobody,
    ];
    let forms: Vec<String> = ways.iter().map(|way| serde_json::to_string(way).unwrap() + "\n").collect();
    expect![[r#"
        {"by":"rule","decision":"ask"}
        {"by":"rule","decision":"ask","access":"opaque (a script)"}
        {"by":"rule","decision":"allow","rules":["*"]}
        {"by":"rule","decision":"ask","rules":["write(file:**)"],"access":"write file:a"}
        {"by":"rule","decision":"deny","rules":["write(file:.env)"],"access":"write file:.env"}
        {"by":"person","answer":"approved"}
        {"by":"person","answer":"approved_edited"}
        {"by":"person","answer":"denied","reason":"not now"}
        {"by":"layer","reason":"the hook says no"}
        {"by":"nobody"}
    "#]]
    .assert_eq(&forms.concat());
    let again: Vec<DecidedBy> = forms.iter().map(|form| serde_json::from_str(form).unwrap()).collect();
    assert_eq!(again, ways);
}

#[test]
fn an_abandoned_call_is_recorded_as_cancelled() {
    let (memory, journal) = in_memory();
    let mut following = follow(&journal, "edit_file");
    following.begun().unwrap();
    drop(following);
    let entries: Vec<JournalEntry> = memory.records().iter().map(|record| record.entry.clone()).collect();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0], JournalEntry::Begun);
    assert!(matches!(entries[1], JournalEntry::Ended { status: ReplyStatus::Cancelled, ran: true, .. }));
}

#[test]
fn a_call_that_waits_for_a_person_has_no_end_yet() {
    let (memory, journal) = in_memory();
    follow(&journal, "edit_file").waits().unwrap();
    let records = memory.records();
    assert_eq!(records.iter().map(|record| &record.entry).collect::<Vec<_>>(), [&JournalEntry::Waiting]);
}

/// Lets so much time pass as these clocks can tell.
fn pass(time: Duration) {
    let (start, at) = (Instant::now(), now_ms());
    while start.elapsed() < time || milliseconds(time) > now_ms().saturating_sub(at) {
        std::hint::spin_loop();
    }
}

/// The times of a call that ended: in all, while a person was asked, and while it ran.
fn times(memory: &MemoryJournal) -> (u64, u64, Option<u64>) {
    match memory.records().last().unwrap().entry {
        JournalEntry::Ended { duration_us, asked_us, ran_us, .. } => (duration_us, asked_us, ran_us),
        ref other => panic!("{other:?} is no end"),
    }
}

#[test]
fn waiting_asking_and_running_are_told_apart() {
    const STEP: Duration = Duration::from_millis(50);
    let (memory, journal) = in_memory();
    let start = Instant::now();
    let mut following = follow(&journal, "edit_file");
    pass(STEP);
    following.asks();
    pass(STEP);
    following.answered();
    following.begun().unwrap();
    pass(STEP);
    // Who has to make themselves known is asked in the middle of it.
    following.asks();
    pass(STEP);
    following.answered();
    let mut reply = reply(ReplyStatus::Ok, "done");
    reply.duration = start.elapsed();
    following.ended(&reply).unwrap();

    let (in_all, asked, ran) = times(&memory);
    let ran = ran.unwrap();
    let step = u64::try_from(STEP.as_micros()).unwrap();
    assert!(asked >= 2 * step, "{asked}");
    // The clock that dates records goes on in steps of its own.
    assert!(ran >= step / 2, "{ran}");
    assert!(in_all.saturating_sub(asked + ran) >= step / 2, "{in_all} {asked} {ran}");
}

#[test]
fn a_call_that_ends_while_a_person_is_asked_has_been_asked_about_to_its_end() {
    let (memory, journal) = in_memory();
    let mut following = follow(&journal, "edit_file");
    following.asks();
    pass(Duration::from_millis(2));
    drop(following);
    let (in_all, asked, ran) = times(&memory);
    assert!((2_000..=in_all).contains(&asked), "{asked} of {in_all}");
    assert_eq!(ran, None);
}

#[test]
fn times_never_add_up_to_more_than_the_call_took() {
    let (memory, journal) = in_memory();
    let mut following = follow(&journal, "edit_file");
    following.asks();
    pass(Duration::from_millis(2));
    following.answered();
    following.begun().unwrap();
    following.ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    assert_eq!(times(&memory), (1_500, 1_500, Some(0)));
}

#[test]
fn a_record_of_before_the_times_were_kept_is_read() {
    let line = r#"{"version":1,"record":"ended","ran":true,"status":"ok","duration_us":1500,"bytes_total":4,"bytes_kept":4,"sequence":1,"at_ms":1700000000000,"run":"run-2","call":"c1","called_as":"edit_file","decided":{"by":"nobody"}}"#;
    let record: JournalRecord = serde_json::from_str(line).unwrap();
    assert!(matches!(record.entry, JournalEntry::Ended { asked_us: 0, ran_us: None, ran: true, .. }));
    assert_eq!(serde_json::to_string(&record).unwrap(), line);
}

#[test]
fn a_call_ends_once() {
    let (memory, journal) = in_memory();
    let mut following = follow(&journal, "edit_file");
    following.ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    following.ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    following.begun().unwrap();
    drop(following);
    assert_eq!(memory.records().len(), 1);
}

#[test]
fn a_call_that_is_tried_again_begins_once() {
    let (memory, journal) = in_memory();
    let mut following = follow(&journal, "edit_file");
    following.begun().unwrap();
    following.begun().unwrap();
    following.ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    assert_eq!(memory.records().len(), 2);
}

#[test]
fn without_a_sink_nothing_is_computed() {
    let journal = Journal::default();
    let mut following = journal.call(&scope(), &call("c1", "t", json!({})));
    following.prepared(&Accesses::none(), || panic!("no digest is needed"));
    following.decided(|| panic!("no reason is needed"));
    following.begun().unwrap();
    following.ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    assert!(!journal.is_kept());
}

#[test]
fn a_sink_that_fails_or_panics_is_an_error_of_the_record() {
    struct Broken;

    impl JournalSink for Broken {
        fn write(&self, record: &JournalRecord) -> io::Result<()> {
            assert_ne!(record.called_as, "panics", "the sink breaks");
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    let journal = Journal::new(Arc::new(Broken));
    let fails = follow(&journal, "fails").begun().unwrap_err();
    assert_eq!(fails.kind(), io::ErrorKind::StorageFull);
    let panics = follow(&journal, "panics").begun().unwrap_err();
    assert_eq!(panics.to_string(), "the sink of the journal panicked");
}

#[test]
fn what_others_chose_is_kept_within_bounds_and_what_is_left_out_is_counted() {
    let (memory, journal) = in_memory();
    let mut following = journal.call(&scope(), &call("c1", &"é".repeat(1 << 20), json!({})));
    let long = |place| read(&format!("file:{place}{}", "é".repeat(1 << 16)));
    following.prepared(&(0..100).map(long).collect(), || Digest::of(&json!(null)));
    let files = (0..100).map(|place| resource(&format!("file:{place}")));
    let rule = |file: Resource| Rule::access(AccessMode::Read, file);
    let policy = files.clone().fold(Policy::new(), |policy, file| policy.allow(rule(file)));
    let accesses: Accesses = files.map(Access::read).collect();
    let DecidedBy::Rule { rules, .. } = DecidedBy::verdicts(&policy.explain(&spec("t"), &accesses)) else {
        panic!("a rule decides");
    };
    assert_eq!((rules.len(), &*rules[64]), (65, "… and 36 more"));
    following.decided(|| DecidedBy::person(PersonAnswer::Denied, &"é".repeat(1 << 20)));
    following.ended(&reply(ReplyStatus::Denied, "no")).unwrap();
    let record = &memory.records()[0];
    let DecidedBy::Person { reason, .. } = &record.decided else { panic!("{:?}", record.decided) };
    assert!(record.called_as.len() <= 1024 && reason.len() <= 1024 && reason.ends_with('…'));
    let accesses = record.accesses.as_ref().unwrap();
    assert!(accesses.iter().all(|access| access.len() <= 4096));
    assert_eq!((accesses.len(), record.accesses_omitted), (16, 84));
}

#[test]
fn memory_keeps_the_newest_and_finds_what_is_wanted() {
    let memory = Arc::new(MemoryJournal::new(3));
    let journal = Journal::new(Arc::clone(&memory) as _);
    for name in ["a", "b", "c", "d"] {
        follow(&journal, name).ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    }
    let sequences: Vec<u64> = memory.records().iter().map(|record| record.sequence).collect();
    assert_eq!((sequences, memory.dropped()), (vec![1, 2, 3], 1));
    let found = memory.find(|record| record.called_as == "c");
    assert_eq!(found.iter().map(|record| record.sequence).collect::<Vec<_>>(), [2]);
    let none = MemoryJournal::new(0);
    none.write(&found[0]).unwrap();
    assert_eq!((none.records(), none.dropped()), (vec![], 1));
}

#[test]
fn only_its_owner_may_read_a_new_journal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.jsonl");
    JsonlJournal::open(&path).unwrap().sync().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(JsonlJournal::read(&path).unwrap().count(), 0);
}

#[test]
fn what_is_not_a_regular_file_is_no_journal() {
    let kind = |path: &Path| JsonlJournal::open(path).map(|_| ()).unwrap_err().kind();
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(kind(directory.path()), io::ErrorKind::IsADirectory);
    assert_eq!(kind(&directory.path().join("missing/journal")), io::ErrorKind::NotFound);
    assert_eq!(kind(Path::new("/dev/null")), io::ErrorKind::InvalidInput);
}

#[test]
fn many_who_write_at_once_do_not_mix_their_lines() {
    const EACH: usize = 100;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.jsonl");
    // Two open files are to the system what two processes are.
    let journals = [(), ()].map(|()| Journal::new(Arc::new(JsonlJournal::open(&path).unwrap())));
    std::thread::scope(|threads| {
        for (writer, journal) in journals.iter().chain(&journals).enumerate() {
            threads.spawn(move || {
                for _ in 0..EACH {
                    let name = format!("{writer}{}", "x".repeat(900));
                    follow(journal, &name).ended(&reply(ReplyStatus::Ok, "done")).unwrap();
                }
            });
        }
    });
    let records: Vec<JournalRecord> = JsonlJournal::read(&path).unwrap().map(Result::unwrap).collect();
    let of = |writer: char| records.iter().filter(|record| record.called_as.starts_with(writer)).count();
    assert_eq!(['0', '1', '2', '3'].map(of), [EACH; 4]);
}

#[test]
fn a_record_that_is_too_long_for_a_line_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.jsonl");
    let (memory, journal) = in_memory();
    follow(&journal, "t").ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    let mut record = JournalRecord::clone(&memory.records()[0]);
    record.called_as = "t".repeat(JsonlJournal::MAX_LINE_BYTES);
    let refused = JsonlJournal::open(&path).unwrap().write(&record).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

/// Reads as which lines are damaged, and how.
fn outline(text: &[u8]) -> String {
    JournalReader::new(text)
        .map(|read| match read {
            Ok(record) => format!("{}\n", record.called_as),
            Err(error) => match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}\n"),
                None => format!("{error}\n"),
            },
        })
        .collect()
}

#[test]
fn what_is_damaged_is_reported_with_its_line_and_reading_goes_on() {
    let (memory, journal) = in_memory();
    follow(&journal, "t").ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    let good = serde_json::to_string(&*memory.records()[0]).unwrap();
    let later = good.replace("\"version\":1", "\"version\":2").replace("ended", "paused");
    let long = "x".repeat(JsonlJournal::MAX_LINE_BYTES + 1);
    let nested = "[".repeat(100_000);
    let text = format!(
        "{good}\r\n\n  \n{{}}\n{good}{good}\n{later}\n\0\0\0\n{long}\n{nested}\n{good}\n{}",
        &good[..40]
    );
    let mut text = text.into_bytes();
    text.splice(0..0, *b"\xff\xfe\n");
    expect![[r#"
        line 1 of the journal is damaged: expected value at line 1 column 1
        t
        line 5 of the journal is damaged: missing field `version` at line 1 column 2
        line 6 of the journal is damaged: trailing characters at line 1 column 412
        line 7 of the journal has the form of version 2, not 1
        line 8 of the journal is damaged: expected value at line 1 column 1
        line 9 of the journal has more than 1048576 bytes
        line 10 of the journal is damaged: invalid type: sequence, expected struct JournalRecord at line 1 column 0
        t
        line 12 of the journal is damaged: EOF while parsing a value at line 1 column 40
    "#]].assert_eq(&outline(&text));
}

#[test]
fn a_source_that_breaks_ends_the_reading_with_its_error() {
    struct Broken;

    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }

    let mut reader = JournalReader::new(io::BufReader::new(Broken));
    assert!(matches!(reader.next(), Some(Err(JournalError::Read { line: 1, .. }))));
    assert!(reader.next().is_none());
}

proptest! {
    #[test]
    fn a_journal_that_is_cut_anywhere_can_be_written_and_read_on(
        names in prop::collection::vec("[a-zé\n\"\u{202e}]{0,12}", 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.jsonl");
        let add = |name: &str| {
            let journal = Journal::new(Arc::new(JsonlJournal::open(&path).unwrap()));
            follow(&journal, name).ended(&reply(ReplyStatus::Ok, "done")).unwrap();
        };
        for name in &names {
            add(name);
        }
        let whole = std::fs::read(&path).unwrap();
        let kept = &whole[..cut.index(whole.len() + 1)];
        std::fs::write(&path, kept).unwrap();
        add("last");

        // A record of which only the newline is missing is there, too.
        let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place);
        let complete = ends.filter(|end| kept.len() >= *end).count();
        let is_cut = !kept.is_empty() && !kept.ends_with(b"\n") && whole[kept.len()] != b'\n';
        let mut expected: Vec<Result<String, u64>> = names[..complete].iter().cloned().map(Ok).collect();
        expected.extend(is_cut.then_some(Err(complete as u64 + 1)));
        expected.push(Ok("last".to_owned()));
        let read: Vec<Result<String, u64>> = JsonlJournal::read(&path).unwrap().map(|read| match read {
            Ok(record) => Ok(record.called_as),
            Err(JournalError::Damaged { line, .. }) => Err(line),
            Err(error) => panic!("{error}"),
        }).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let lines = bytes.split(|byte| *byte == b'\n').count();
        prop_assert!(JournalReader::new(&*bytes).count() <= lines);
    }
}

#[test]
fn a_secret_over_the_edge_of_a_text_that_is_cut_is_replaced_first() {
    let redactor = Redactor::new();
    redactor.add("hunter2-hunter2").unwrap();
    let text = |most: usize| format!("{}hunter2-hunter2", "x".repeat(most - 10));
    let origin = Origin::Mcp { server: text(1024), tool: text(1024) };
    let (memory, journal) = in_memory();
    let scope = CallScope::new("run-1".parse().unwrap()).with_agent(text(1024));
    for by in [DecidedBy::person(PersonAnswer::Denied, &text(1024)), DecidedBy::layer(&text(1024))] {
        let mut following = journal.call(&scope, &call("c1", &text(1024), json!({}))).redacted_by(&redactor);
        following.resolved(&spec("t").with_origin(origin.clone()));
        let path = text(4096 - "read file:".len());
        following.prepared(&read(&format!("file:{path}")).into(), || Digest::of(&json!(null)));
        following.decided(|| by);
        following.ended(&reply(ReplyStatus::Denied, "no")).unwrap();
    }
    for record in memory.records() {
        let written = serde_json::to_string(&record).unwrap();
        assert!(!written.contains("hunt"), "{written}");
        assert_eq!(written.matches("[redact").count(), 6, "{written}");
    }
}

#[test]
fn a_name_that_a_server_made_too_long_is_cut_in_the_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.jsonl");
    let journal = Journal::new(Arc::new(JsonlJournal::open(&path).unwrap()));
    let origin = Origin::Mcp { server: "files".into(), tool: "é".repeat(1_000_000) };
    let mut following = journal.call(&scope(), &call("c1", "t", json!({})));
    following.resolved(&spec("t").with_origin(origin));
    following.begun().unwrap();
    following.ended(&reply(ReplyStatus::Ok, "done")).unwrap();
    let record = JsonlJournal::read(&path).unwrap().next().unwrap().unwrap();
    let Some(Origin::Mcp { server, tool }) = record.origin else { panic!("{:?}", record.origin) };
    assert_eq!((server, tool), ("files".to_owned(), "é".repeat(510) + "…"));
}
