use super::{ClientRoots, ClientSampler};
use crate::server::{Abilities, Probe, able, in_both_eras};
use crate::{AskKind, Root, Roots as _, Sampler as _, SamplingRequest, ServerName};
use haft_core::{ToolError, ToolOutput};
use serde_json::{Value, json};

/// Has a turn be taken, as a server wants it.
fn samples(params: Value) -> Probe {
    Probe::new("samples", move |_, cx| {
        let params = params.clone();
        async move {
            let server: ServerName = "files".parse().unwrap();
            let request = SamplingRequest::read(&server, &params).map_err(ToolError::failed)?;
            let sampler = ClientSampler::new();
            sampler.check(&cx)?;
            let turn = sampler.sample(request, &cx).await?;
            Ok(ToolOutput::text(format!("{} ({}, {:?})", turn.text, turn.model, turn.stop)))
        }
    })
}

fn turn() -> Value {
    json!({
        "systemPrompt": "Be short.",
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "Which?" } },
            { "role": "assistant", "content": { "type": "text", "text": "This." } },
            { "role": "user", "content": [
                { "type": "text", "text": "And?" },
                { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            ] },
        ],
        "maxTokens": 50,
        "stopSequences": ["."],
        "_meta": { "theirs": true },
    })
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_taken_by_the_client_that_calls() {
    let answer = json!({
        "role": "assistant", "content": { "type": "text", "text": "Paris" }, "model": "m", "stopReason": "maxTokens"
    });
    for (told, asked) in in_both_eras(samples(turn()), able(), answer).await {
        assert_eq!(told.reply(), "ok: Paris (m, MaxTokens)");
        let mut passed_on = turn();
        passed_on.as_object_mut().unwrap().remove("_meta");
        assert_eq!(asked, [AskKind::Sample(passed_on)]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_text_is_no_answer() {
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let answer = json!({ "role": "assistant", "content": image, "model": "m" });
    for (told, _) in in_both_eras(samples(turn()), able(), answer).await {
        assert_eq!(
            told.reply(),
            "error: failed: the client's model answered with something other than text; go on without it"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_no_turns_is_not_asked() {
    let none = Abilities { sampling: false, ..able() };
    for (told, asked) in in_both_eras(samples(turn()), none, Value::Null).await {
        assert_eq!(
            told.reply(),
            "error: failed: the client whose call this is takes no turns of a model (it has no `sampling`); go on without it"
        );
        assert_eq!(asked, []);
    }
}

/// Says which directories a server is told of.
fn roots() -> Probe {
    Probe::new("roots", |_, cx| async move {
        let roots = ClientRoots::or(vec![Root::directory("/host").unwrap()]);
        let told = roots.of_call(&cx).await?;
        let told: Vec<_> = told.iter().map(|root| format!("{} {}", root.uri(), root.name())).collect();
        Ok(ToolOutput::text(told.join("; ")))
    })
}

#[tokio::test(start_paused = true)]
async fn the_directories_are_those_of_the_client_that_calls() {
    let answer = json!({ "roots": [
        { "uri": "file:///home/ada", "name": "home" }, { "uri": "file:///b%20c" },
        { "uri": "https://example.org/" }, { "uri": "no address" }, 5,
    ] });
    for (told, asked) in in_both_eras(roots(), able(), answer).await {
        assert_eq!(told.reply(), "ok: file:///home/ada home; file:///b%20c b c");
        assert_eq!(asked, [AskKind::Roots]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_directories_is_not_asked() {
    let none = Abilities { roots: false, ..able() };
    for (told, asked) in in_both_eras(roots(), none, Value::Null).await {
        assert_eq!(
            told.reply(),
            "error: failed: the client whose call this is tells of no directories (it has no `roots`); go on without it"
        );
        assert_eq!(asked, []);
    }
}
