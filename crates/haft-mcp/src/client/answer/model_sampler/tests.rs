use super::ModelSampler;
use crate::{Sampled, SampledStop, Sampler as _, SamplingRequest};
use async_trait::async_trait;
use haft_core::{AssistantPart, EventKind, Message, ToolCall, ToolError};
use haft_model::{DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest, ScriptedModel, Session};
use haft_tools_core::{
    Accesses, Batch, CallContext, CallScope, Events, LocalExecutor, Policy, Rule, ToolExecutor as _,
    ToolRegistry, tool_fn,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Is a model whose provider limits the rate of requests before each answer.
struct Limited(ScriptedModel);

#[async_trait]
impl Model for Limited {
    fn capabilities(&self) -> &ModelCapabilities {
        self.0.capabilities()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        let error = ModelError::RateLimited { retry_after: Some(Duration::from_secs(2)) };
        request.retries.asked_again(&error, Duration::from_millis(1500));
        self.0.stream(request, cancel).await
    }
}

fn playing(session: &str) -> ScriptedModel {
    ScriptedModel::new(Session::parse(session, "turn.jsonl").unwrap())
}

fn wanted(stop_sequences: &[&str]) -> SamplingRequest {
    SamplingRequest {
        server: "s".parse().unwrap(),
        system: None,
        messages: vec![Message::user("How is the weather?")],
        max_tokens: 100,
        temperature: None,
        stop_sequences: stop_sequences.iter().map(ToString::to_string).collect(),
    }
}

/// Has a turn taken in a call of a tool, and gives it with all that the call told of its progress.
async fn sample(model: impl Model, request: SamplingRequest) -> (Result<Sampled, ToolError>, Vec<String>) {
    let sampler = Arc::new(ModelSampler::new(Arc::new(model)));
    let taken = Arc::new(Mutex::new(None));
    let keeps = Arc::clone(&taken);
    let work = tool_fn("work", "Works.", Accesses::none(), move |_: Value, cx: CallContext| {
        let (sampler, keeps, request) = (Arc::clone(&sampler), Arc::clone(&keeps), request.clone());
        async move {
            let answer = sampler.sample(request, &cx).await;
            *keeps.lock().unwrap() = Some(answer);
            Ok::<_, ToolError>("worked")
        }
    });
    let events = Events::default();
    let mut reader = events.subscribe(16);
    let executor = LocalExecutor::builder(ToolRegistry::new().with(work.unwrap()).unwrap())
        .policy(Policy::new().allow(Rule::tools("work".parse().unwrap())))
        .events(events)
        .build();
    let calls = vec![ToolCall::new("c1".parse().unwrap(), "work", json!({}))];
    executor.execute_batch(Batch::new(CallScope::new("run-1".parse().unwrap()), calls)).await;
    drop(executor);
    let mut progress = Vec::new();
    while let Some(delivery) = reader.next().await {
        if let EventKind::Progressed { progress: told } = &delivery.event.kind {
            progress.extend(told.message.clone());
        }
    }
    let taken = taken.lock().unwrap().take().unwrap();
    (taken, progress)
}

#[tokio::test]
async fn a_call_tells_what_the_provider_said_and_not_what_is_done_already() {
    let (sampled, progress) = sample(Limited(playing(r#"{"text": "It rains."}"#)), wanted(&[])).await;
    assert_eq!(sampled.unwrap().text, "It rains.");
    assert_eq!(
        progress,
        ["the model is asked again in 1.5 s: the model's provider limits the rate of requests"],
    );
}

#[tokio::test]
async fn an_answer_ends_before_the_first_text_that_ends_it() {
    let answers = || playing(r#"{"text": "It rains. Then it snows."}"#);
    for (sequences, text, stop) in [
        (&[][..], "It rains. Then it snows.", SampledStop::EndTurn),
        (&["hail"], "It rains. Then it snows.", SampledStop::EndTurn),
        (&["snows", "Then"], "It rains. ", SampledStop::StopSequence),
        (&["It"], "", SampledStop::StopSequence),
    ] {
        let (sampled, _) = sample(answers(), wanted(sequences)).await;
        let sampled = sampled.unwrap();
        assert_eq!((sampled.text.as_str(), sampled.stop), (text, stop), "{sequences:?}");
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_says_so() {
    let (sampled, _) = sample(playing(r#"{"text": "It", "stop": "max_tokens"}"#), wanted(&[])).await;
    assert_eq!(sampled.unwrap().stop, SampledStop::MaxTokens);
}

#[tokio::test]
async fn a_model_that_fails_is_gone_on_without() {
    let mut request = wanted(&[]);
    let text = "The session never said this.".to_owned();
    request.messages.push(Message::Assistant { parts: vec![AssistantPart::Text { text }] });
    let (sampled, _) = sample(playing(r#"{"text": "It rains."}"#), request).await;
    assert_eq!(sampled.unwrap_err().message(), "the model gave no answer; go on without it");
}
