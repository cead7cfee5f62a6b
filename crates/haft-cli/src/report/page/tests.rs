use super::room::MOST_TEXT;
use super::{LEAST_TEXT, MOST_ALL, PAGE, START, page, room, script, shown};
use crate::report::data::{CallReport, Diff, Report, RunReport, Text, Timings, Totals, TurnReport, VERSION};
use crate::report::gather::unknown;
use haft::agent::TurnRecord;
use haft::tools_core::DecidedBy;
use serde_json::{Value, json};

/// What gets out of where it is put, or hides itself.
const HOSTILE: &str =
    "</script><script>alert(1)</script><!--<script>&lt; \\ud800 \u{2028}\u{1b}[2J\u{202e}x {{script}} ]]>";

fn report(text: &str) -> Report {
    let run = RunReport {
        run: "run-1".parse().unwrap(),
        parent: None,
        label: None,
        agent: None,
        does: None,
        model: None,
        task: Some(text.to_owned()),
        workdir: None,
        end: "completed",
        reason: None,
        said: None,
        started_at_ms: None,
        ended_at_ms: None,
        turns: None,
        usage: None,
        cost_nanos: None,
        budgets: Vec::new(),
    };
    let call = CallReport {
        run: 0,
        id: "c1".to_owned(),
        called_as: text.to_owned(),
        tool: None,
        origin: None,
        turn: None,
        status: "ok",
        error: None,
        asked: false,
        at_us: None,
        took_us: None,
        waited_us: 0,
        asked_us: 0,
        ran_us: 0,
        timings: Timings::None,
        about: text.to_owned(),
        input: Some(json!({ "path": text, text: 1 })),
        repairs: Vec::new(),
        accesses: None,
        accesses_omitted: 0,
        decided: DecidedBy::Nobody,
        digest: None,
        output: Some(text.to_owned()),
        truncation: None,
        diff: Some(Diff { text: text.to_owned(), from: "reply" }),
        bytes_total: None,
        bytes_kept: None,
        child_run: None,
    };
    Report {
        version: VERSION,
        haft: "0",
        made_at_ms: 0,
        run: run.run.clone(),
        totals: Totals::of(&[], &[]),
        runs: vec![run],
        turns: vec![TurnReport::new(0, &TurnRecord::new(1, text, 1_000).took_us(5))],
        calls: vec![call],
        notes: Vec::new(),
    }
}

/// The data that stands in a page, as a browser takes it: all up to the first end of the element.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script").unwrap();
    assert!(!data.contains(['<', '>', '&']));
    let mut data: Value = serde_json::from_str(data).unwrap();
    for name in ["calls", "turns"] {
        data[name] = unpacked(&data[name]);
    }
    data
}

/// Makes objects of rows, as `base.js` does.
fn unpacked(packed: &Value) -> Value {
    let list = |name: &str| packed[name].as_array().unwrap();
    let object = |row: &Value| {
        let cells = row.as_array().unwrap().iter().zip(list("columns"));
        let cells = cells.filter(|(cell, _)| !cell.is_null()).map(|(cell, name)| {
            let name = name.as_str().unwrap();
            let known = packed["values"]
                .get(name)
                .map(|known| known[usize::try_from(cell.as_u64().unwrap()).unwrap()].clone());
            (name.to_owned(), known.unwrap_or_else(|| cell.clone()))
        });
        Value::Object(cells.collect())
    };
    list("rows").iter().map(object).collect()
}

#[test]
fn no_text_gets_out_of_where_it_stands() {
    let page = page(&report(HOSTILE)).unwrap();
    let honest = super::page(&report("an honest text")).unwrap();
    let ends = |page: &str| page.matches("</script").count();
    assert_eq!(ends(&page), ends(&honest));
    assert_eq!(page.matches("<!--").count(), honest.matches("<!--").count());
    assert!(!page.contains(['\u{1b}', '\u{202e}', '\u{2028}']));
    // A place of the template that stands in a text is left alone.
    assert_eq!(page.matches(&script(START)).count(), 1);

    let data = data(&page);
    let shown = "</script><script>alert(1)</script><!--<script>&lt; \\ud800 \\u{2028}\\u{1b}[2J\\u{202e}x {{script}} ]]>";
    assert_eq!(data["runs"][0]["task"], shown);
    assert_eq!(data["turns"][0]["model"], shown);
    let call = &data["calls"][0];
    for text in [&call["called_as"], &call["about"], &call["output"]["text"], &call["diff"]["text"]] {
        assert_eq!(text, shown);
    }
    let input = call["input"]["text"].as_str().unwrap();
    assert!(input.contains("\\u{202e}") && !input.contains('\u{202e}'), "{input}");
}

#[test]
fn the_page_may_load_nothing_and_run_nothing_but_its_own_script() {
    let page = page(&report("x")).unwrap();
    let (_, rest) = page.split_once("Content-Security-Policy\" content=\"").unwrap();
    let (rules, _) = rest.split_once('"').unwrap();
    let rules: Vec<&str> = rules.split("; ").collect();
    assert_eq!(rules[0], "default-src 'none'");
    assert!(
        rules[1].starts_with("script-src 'sha256-") && rules[2].starts_with("style-src 'sha256-"),
        "{rules:?}"
    );
    assert_eq!(rules[3..], ["base-uri 'none'", "form-action 'none'"]);
    for outside in ["http:", "https:", "//cdn", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Texts are put on the page as texts.
    for unsafe_way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "onclick"] {
        assert!(!script(START).contains(unsafe_way) && !PAGE.contains(unsafe_way), "{unsafe_way}");
    }
}

#[test]
fn a_long_text_keeps_its_start_and_its_end() {
    let text = format!("{}{}{}", "ä".repeat(100), "x".repeat(1_000), "ü".repeat(50));
    let Text { text: cut, omitted } = Text::cut(&text, 301);
    assert!(cut.starts_with(&"ä".repeat(100)) && cut.ends_with(&"ü".repeat(50)), "{cut}");
    assert_eq!(omitted, 1_000 - 100 + 100);
    assert_eq!(Text::cut("short", 5), Text { text: "short".to_owned(), omitted: 0 });
}

#[test]
fn texts_have_less_room_where_there_are_many() {
    let of = |length: usize, count: usize| room(&std::iter::repeat_n(length, count), MOST_ALL, LEAST_TEXT);
    assert_eq!(of(usize::MAX / 4, 1), MOST_TEXT);
    assert_eq!(of(100, 100_000), MOST_TEXT);
    let room_of_many = of(50_000, 5_000);
    assert!(room_of_many * 5_000 <= MOST_ALL && room_of_many > LEAST_TEXT, "{room_of_many}");
    assert_eq!(of(50_000, 1_000_000), LEAST_TEXT);
}

/// A report of so many calls, each about 2 KiB of text that takes six times as much in a page; every hundredth failed.
fn large(calls: usize) -> Report {
    let mut report = report("");
    let text = "<".repeat(200);
    report.calls = (0..calls)
        .map(|number| {
            let mut call = report_of_call(&format!("{text}{}", "x".repeat(1_800)), number);
            if number % 100 == 7 {
                (call.status, call.error) = ("error", Some("failed"));
            }
            call
        })
        .collect();
    report
}

fn report_of_call(text: &str, number: usize) -> CallReport {
    let mut call = report(text).calls.remove(0);
    (call.id, call.called_as, call.about) = (
        format!("toolu_01AbCdEfGhIjKlMn{number:08}"),
        "read_file".to_owned(),
        format!("src/file_{number}.rs"),
    );
    (call.at_us, call.took_us, call.ran_us) =
        (Some(1_763_950_000_000_000 + number as u64 * 1_234), Some(1_234), 1_200);
    (call.diff, call.digest) = (None, Some("0123456789abcdef".repeat(4)));
    call.accesses = Some(vec![format!("read file:src/file_{number}.rs")]);
    call
}

#[test]
fn the_page_of_a_large_run_has_all_calls_and_a_size_that_it_does_not_exceed() {
    const CALLS: usize = 8_000;
    let report = large(CALLS);
    let page = page(&report).unwrap();
    // What calls are about has 16 MiB, and each call some 100 bytes beside it, as has what the page is made of.
    assert!(page.len() < MOST_ALL + CALLS * 160 + 128 * 1024, "{}", page.len());
    let data = data(&page);
    let calls = data["calls"].as_array().unwrap();
    assert_eq!(calls.len(), CALLS);
    let (left_out, whole): (Vec<&Value>, Vec<&Value>) =
        calls.iter().partition(|call| call.get("left_out").is_some());
    assert!(whole.len() > 1_500, "{}", whole.len());
    // What went wrong is there, and then the latest.
    assert!(left_out.iter().all(|call| call["status"] == "ok"));
    assert_eq!(whole.iter().filter(|call| call["status"] == "error").count(), CALLS / 100);
    assert_eq!(calls.last(), whole.last().copied());
    for call in &whole {
        assert!(call["output"]["omitted"].as_u64() > Some(0) && call["accesses"][0].is_string(), "{call}");
    }
    for (place, call) in calls.iter().enumerate() {
        let about = format!("src/file_{place}.rs");
        assert_eq!(
            (&call["about"], &call["took_us"], call["at_us"].is_u64()),
            (&json!(about), &json!(1_234), true)
        );
    }
    let note = data["notes"][0].as_str().unwrap().replace(&left_out.len().to_string(), "N");
    expect_test::expect!["This run is large: what N of its 8000 calls are about is not in this page: their arguments, accesses, diffs and outputs, which have 17 MiB. It has those of calls that failed, were asked about or changed files, and then of the latest. `haft report run-1 --call ID` makes a page of one of the others, and `--json` has all."].assert_eq(&note);
    assert!(left_out.iter().all(|call| call["left_out"].as_u64() > Some(2_000)), "{}", left_out[0]);
}

#[test]
fn what_many_runs_were_asked_to_do_has_its_bounds_too() {
    let mut report = report(&"task ".repeat(20_000));
    let run = report.runs.remove(0);
    let asked = || RunReport { task: run.task.clone(), ..unknown(&run.run, None, None) };
    report.runs = std::iter::repeat_with(asked).take(2_000).collect();
    let page = page(&report).unwrap();
    assert!(page.len() < 6 * 1024 * 1024, "{}", page.len());
}

#[test]
fn what_is_cut_is_said() {
    let page = shown(&report(&"line\n".repeat(50_000))).unwrap();
    let call = &page["calls"][0];
    for part in ["input", "output", "diff"] {
        assert!(call[part]["omitted"].as_u64() > Some(100_000), "{part}");
    }
    assert_eq!(call["diff"]["from"], "reply");
}
