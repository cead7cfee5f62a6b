use super::{Prompt, Said};
use haft::CallScope;
use haft::tools_core::{Approval, AskedQuestion, GrantTerm, PendingCall, Question, QuestionOutcome};
use serde_json::{Value, json};

/// A call that waits to write a file, with the rule that could be remembered.
fn pending(grant: Option<&str>, wants: &Value) -> PendingCall {
    serde_json::from_value(json!({
        "version": 1,
        "id": "0123456789abcdef",
        "wants": wants,
        "call": { "id": "c1", "name": "write_file", "input": { "path": "a.txt" } },
        "run": "run-1",
        "accesses": [],
        "unmet": [{ "reason": "no rule speaks of it", "grant": grant }],
        "preview": { "kind": "diff", "text": "+x" },
        "asked_at_ms": 0,
        "digest": "0".repeat(64),
    }))
    .unwrap()
}

fn said(pending: &PendingCall, typed: &str) -> (Said, String) {
    let (mut input, mut out) = (typed.as_bytes(), Vec::new());
    let said = Prompt { input: &mut input, out: &mut out }.call(pending, &[]);
    (said, String::from_utf8(out).unwrap())
}

fn check(typed: &str, expected: &Said) {
    assert_eq!(&said(&pending(Some("write(a.txt)"), &json!({ "kind": "approval" })), typed).0, expected);
}

#[test]
fn takes_each_answer() {
    let (term, reason) = (GrantTerm::Workspace, "use b.txt".to_owned());
    check("yes\n", &Said::Answer(Approval::Approve));
    check("Y\n", &Said::Answer(Approval::Approve));
    check("always\n", &Said::Answer(Approval::ApproveFor { term }));
    check("no\n", &Said::Answer(Approval::Deny { reason: String::new() }));
    check("no use b.txt\n", &Said::Answer(Approval::Deny { reason: reason.clone() }));
    check("never use b.txt\n", &Said::Answer(Approval::Never { term, reason }));
    check("edit\n", &Said::Edit);
    check("later\n", &Said::Answer(Approval::Later));
}

#[test]
fn asks_again_until_it_understands_and_takes_the_end_as_later() {
    check("what\n\nexplain\nyes\n", &Said::Answer(Approval::Approve));
    check("", &Said::Answer(Approval::Later));
}

#[test]
fn ends_the_line_of_a_question_where_the_input_does_not() {
    let call = pending(None, &json!({ "kind": "approval" }));
    for (typed, answer, end) in [
        ("", Approval::Later, "later: \n"),
        ("yes", Approval::Approve, "later: \n"),
        ("yes\n", Approval::Approve, "later: "),
    ] {
        let (said, shown) = said(&call, typed);
        assert_eq!(said, Said::Answer(answer), "{typed:?}");
        assert!(shown.ends_with(end), "{typed:?}: {shown}");
    }
}

#[test]
fn shows_the_rules_that_would_be_remembered() {
    let approval = json!({ "kind": "approval" });
    let (_, shown) = said(&pending(Some("write(a.txt)"), &approval), "");
    assert!(
        shown.contains("`write(a.txt)`") && shown.contains("+x") && shown.contains("always here"),
        "{shown}"
    );
    let (answer, shown) = said(&pending(None, &approval), "always\nnever\n");
    assert_eq!(answer, Said::Answer(Approval::Later));
    assert!(!shown.contains("always here"), "{shown}");
}

#[test]
fn shows_why_each_access_is_asked_about() {
    let (_, shown) = said(&pending(None, &json!({ "kind": "approval" })), "");
    assert!(shown.contains("asked because: no rule speaks of it"), "{shown}");
}

#[test]
fn shows_where_to_sign_in() {
    let wants = json!({ "kind": "authentication", "url": "https://example.org/in" });
    let (answer, shown) = said(&pending(Some("write(a.txt)"), &wants), "yes\n");
    assert_eq!(answer, Said::Answer(Approval::Approve));
    assert!(shown.contains("https://example.org/in") && shown.contains("Done?"), "{shown}");
    assert!(!shown.contains("always here"), "{shown}");
}

fn answered(question: &Question, typed: &str) -> QuestionOutcome {
    let scope = CallScope::new("run-1".parse().unwrap());
    let asked = AskedQuestion::new(question.clone(), &scope, "c1".parse().unwrap(), "ask");
    let (mut input, mut out) = (typed.as_bytes(), Vec::new());
    Prompt { input: &mut input, out: &mut out }.question(&asked)
}

#[test]
fn reads_answers_to_each_kind_of_question() {
    let is = |answer: Value| QuestionOutcome::Answered { answer };
    let database = || Question::choice("Which?", ["staging", "production"]);
    assert_eq!(answered(&Question::text("Who?"), "me\n"), is(json!("me")));
    assert_eq!(answered(&Question::confirm("Sure?"), "maybe\ny\n"), is(json!(true)));
    assert_eq!(answered(&database(), "2\n"), is(json!("production")));
    assert_eq!(answered(&database(), "9\nstaging\n"), is(json!("staging")));
    assert_eq!(answered(&Question::text("Who?"), "\n"), QuestionOutcome::Declined);
    assert_eq!(answered(&Question::text("Who?"), ""), QuestionOutcome::Nobody);
    let schema = serde_json::from_value(json!({
        "type": "object", "properties": { "port": { "type": "integer" } }, "required": ["port"],
    }))
    .unwrap();
    let form = Question::form("Where?", schema);
    assert_eq!(answered(&form, "{\n{\"port\":\"x\"}\n{\"port\":80}\n"), is(json!({ "port": 80 })));
}

#[test]
fn only_a_yes_is_a_yes() {
    for (typed, expected) in [
        ("yes\n", true),
        ("Y\n", true),
        ("what\n\nyes\n", true),
        ("no\n", false),
        ("", false),
        ("\n\n\n\n\nyes\n", false),
    ] {
        let (mut input, mut out) = (typed.as_bytes(), Vec::new());
        assert_eq!(Prompt { input: &mut input, out: &mut out }.confirm("Accept it?"), expected, "{typed:?}");
    }
}
