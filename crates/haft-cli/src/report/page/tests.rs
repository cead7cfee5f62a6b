use super::{LEAST_TEXT, MOST_ALL, MOST_TEXT, PAGE, SCRIPT, page, room, shown};
use crate::report::data::{CallReport, Diff, Report, RunReport, Text, Timings, Totals, VERSION};
use haft::DecidedBy;
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
        calls: vec![call],
        notes: Vec::new(),
    }
}

/// The data that stands in a page, as a browser takes it: all up to the first end of the element.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script").unwrap();
    assert!(!data.contains(['<', '>', '&']));
    serde_json::from_str(data).unwrap()
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
    assert_eq!(page.matches(SCRIPT).count(), 1);

    let data = data(&page);
    let shown = "</script><script>alert(1)</script><!--<script>&lt; \\ud800 \\u{2028}\\u{1b}[2J\\u{202e}x {{script}} ]]>";
    assert_eq!(data["runs"][0]["task"], shown);
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
        assert!(!SCRIPT.contains(unsafe_way) && !PAGE.contains(unsafe_way), "{unsafe_way}");
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
    assert_eq!(room(&[usize::MAX / 4].into_iter()), MOST_TEXT);
    assert_eq!(room(&std::iter::repeat_n(100, 100_000)), MOST_TEXT);
    let room_of_many = room(&std::iter::repeat_n(50_000, 5_000));
    assert!(room_of_many * 5_000 <= MOST_ALL && room_of_many > LEAST_TEXT, "{room_of_many}");
    assert_eq!(room(&std::iter::repeat_n(50_000, 1_000_000)), LEAST_TEXT);
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
