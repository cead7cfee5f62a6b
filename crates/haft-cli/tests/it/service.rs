//! A service of models on this machine, which speaks the three wire formats and tells what it heard.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// As many bytes of an answer are sent at once: some pieces end within a character, and most within an event.
const PIECE: usize = 37;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    Chat,
    Responses,
}

/// Is what a model says in one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn {
    reasoning: String,
    text: String,
    calls: Vec<(String, String, Value)>,
}

/// Is what is answered to one request.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: String,
    body: String,
    /// Whether the connection stays open behind the body, with nothing more to come.
    stays: bool,
}

/// Is a request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Answers each request with the next of its answers; none is left when it says so with a failure.
pub(crate) struct Service {
    address: SocketAddr,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Turn {
    pub(crate) fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    pub(crate) fn call(id: &str, name: &str, input: Value) -> Self {
        Self::default().and_call(id, name, input)
    }

    pub(crate) fn and_call(mut self, id: &str, name: &str, input: Value) -> Self {
        self.calls.push((id.to_owned(), name.to_owned(), input));
        self
    }

    pub(crate) fn saying(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    pub(crate) fn thinking(self, reasoning: &str) -> Self {
        Self { reasoning: reasoning.to_owned(), ..self }
    }

    /// Writes it as a service sends it: 1,000 tokens read and 10 written.
    pub(crate) fn events(&self, wire: Wire) -> String {
        match wire {
            Wire::Anthropic => self.anthropic(),
            Wire::Chat => self.chat(),
            Wire::Responses => self.responses(),
        }
    }

    fn anthropic(&self) -> String {
        let mut events = Events::default();
        let usage = json!({ "input_tokens": 1000, "output_tokens": 1 });
        events.named(json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
            "model": "m", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage } }));
        let mut index = 0;
        let mut block = |start: Value, deltas: Vec<Value>| {
            events.named(json!({ "type": "content_block_start", "index": index, "content_block": start }));
            for delta in deltas {
                events.named(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            }
            events.named(json!({ "type": "content_block_stop", "index": index }));
            index += 1;
        };
        if !self.reasoning.is_empty() {
            let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
            let thinking = json!({ "type": "thinking_delta", "thinking": self.reasoning });
            block(start, vec![thinking, json!({ "type": "signature_delta", "signature": "c2lnbmVk" })]);
        }
        if !self.text.is_empty() {
            let (one, other) = halves(&self.text);
            let delta = |text: &str| json!({ "type": "text_delta", "text": text });
            block(json!({ "type": "text", "text": "" }), vec![delta(one), delta(other)]);
        }
        for (id, name, input) in &self.calls {
            let input = input.to_string();
            let (one, other) = halves(&input);
            let delta = |json: &str| json!({ "type": "input_json_delta", "partial_json": json });
            let start = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            block(start, vec![delta(one), delta(other)]);
        }
        let stop = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        events
            .named(json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null },
            "usage": { "output_tokens": 10 } }));
        events.named(json!({ "type": "message_stop" }));
        events.0
    }

    fn chat(&self) -> String {
        let mut events = Events::default();
        let mut chunk = |delta: Value, finish: Value| {
            events
                .unnamed(&json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }));
        };
        if !self.reasoning.is_empty() {
            chunk(json!({ "role": "assistant", "reasoning_content": self.reasoning }), Value::Null);
        }
        let (one, other) = halves(&self.text);
        for text in [one, other] {
            chunk(json!({ "role": "assistant", "content": text }), Value::Null);
        }
        for (index, (id, name, input)) in self.calls.iter().enumerate() {
            let input = input.to_string();
            let (one, other) = halves(&input);
            let function = json!({ "name": name, "arguments": one });
            let call = json!({ "index": index, "id": id, "type": "function", "function": function });
            chunk(json!({ "tool_calls": [call] }), Value::Null);
            chunk(
                json!({ "tool_calls": [{ "index": index, "function": { "arguments": other } }] }),
                Value::Null,
            );
        }
        chunk(json!({}), json!(if self.calls.is_empty() { "stop" } else { "tool_calls" }));
        events.unnamed(
            &json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
            "usage": { "prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010 } }),
        );
        events.0 + "data: [DONE]\n\n"
    }

    fn responses(&self) -> String {
        let mut events = Events::default();
        let response = |status: &str, usage: Value| {
            json!({ "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": status, "error": null,
                "incomplete_details": null, "output": [], "usage": usage })
        };
        events.named(json!({ "type": "response.created", "response": response("in_progress", Value::Null) }));
        let mut index = 0;
        let mut item = |added: Value, deltas: Vec<Value>, done: Value| {
            events
                .named(json!({ "type": "response.output_item.added", "output_index": index, "item": added }));
            for mut delta in deltas {
                delta["output_index"] = json!(index);
                events.named(delta);
            }
            events.named(json!({ "type": "response.output_item.done", "output_index": index, "item": done }));
            index += 1;
        };
        if !self.reasoning.is_empty() {
            let of = |summary: Value| json!({ "id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": "Z0FB" });
            let delta = json!({ "type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "summary_index": 0,
                "delta": self.reasoning });
            let summary = json!([{ "type": "summary_text", "text": self.reasoning }]);
            item(of(json!([])), vec![delta], of(summary));
        }
        if !self.text.is_empty() {
            let of = |content: Value| {
                json!({ "id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
                "content": content })
            };
            let (one, other) = halves(&self.text);
            let delta = |text: &str| {
                json!({ "type": "response.output_text.delta", "item_id": "msg_1", "content_index": 0,
                "delta": text })
            };
            let whole = json!([{ "type": "output_text", "text": self.text, "annotations": [] }]);
            item(of(json!([])), vec![delta(one), delta(other)], of(whole));
        }
        for (place, (id, name, input)) in self.calls.iter().enumerate() {
            let (item_id, input) = (format!("fc_{place}"), input.to_string());
            let of = |arguments: &str| {
                json!({ "id": item_id, "type": "function_call", "status": "completed",
                "arguments": arguments, "call_id": id, "name": name })
            };
            let (one, other) = halves(&input);
            let delta = |piece: &str| json!({ "type": "response.function_call_arguments.delta", "item_id": item_id, "delta": piece });
            item(of(""), vec![delta(one), delta(other)], of(&input));
        }
        let usage = json!({ "input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010,
            "input_tokens_details": { "cached_tokens": 0 }, "output_tokens_details": { "reasoning_tokens": 0 } });
        events.named(json!({ "type": "response.completed", "response": response("completed", usage) }));
        events.0
    }
}

/// Writes events as they are sent.
#[derive(Default)]
struct Events(String);

impl Events {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is written down at the call is borrowed by nobody"
    )]
    fn named(&mut self, data: Value) {
        write!(self.0, "event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()).unwrap();
    }

    fn unnamed(&mut self, data: &Value) {
        write!(self.0, "data: {data}\n\n").unwrap();
    }
}

/// Cuts a text in two.
fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.char_indices().nth(text.chars().count() / 2).map_or(0, |(place, _)| place))
}

impl Answer {
    pub(crate) fn turn(wire: Wire, turn: &Turn) -> Self {
        Self::events(turn.events(wire))
    }

    pub(crate) fn events(body: String) -> Self {
        Self::new(200, "content-type: text/event-stream\r\n", body)
    }

    pub(crate) fn new(status: u16, headers: &str, body: impl Into<String>) -> Self {
        Self { status, headers: headers.to_owned(), body: body.into(), stays: false }
    }

    /// Says a part of it only, and nothing more: the connection ends, or stays as it is.
    pub(crate) fn only(mut self, bytes: usize, stays: bool) -> Self {
        self.body.truncate(bytes);
        Self { stays, ..self }
    }

    fn write_to(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let head =
            format!("HTTP/1.1 {} Said\r\n{}transfer-encoding: chunked\r\n\r\n", self.status, self.headers);
        stream.write_all(head.as_bytes())?;
        for piece in self.body.as_bytes().chunks(PIECE) {
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            stream.write_all(&chunk)?;
        }
        if self.stays { Ok(()) } else { stream.write_all(b"0\r\n\r\n") }
    }
}

impl Service {
    pub(crate) fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers: Arc<Mutex<VecDeque<Answer>>> = Arc::new(Mutex::new(answers.into_iter().collect()));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (to_say, to_hear) = (Arc::clone(&answers), Arc::clone(&heard));
        // It ends with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answers, heard) = (Arc::clone(&to_say), Arc::clone(&to_hear));
                thread::spawn(move || serve(stream.unwrap(), &answers, &heard));
            }
        });
        Self { address, answers, heard }
    }

    /// Answers with these turns.
    pub(crate) fn of(wire: Wire, turns: &[Turn]) -> Self {
        Self::answering(turns.iter().map(|turn| Answer::turn(wire, turn)))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    /// How many answers were not asked for.
    pub(crate) fn left(&self) -> usize {
        self.answers.lock().unwrap().len()
    }
}

fn serve(mut stream: TcpStream, answers: &Mutex<VecDeque<Answer>>, heard: &Mutex<Vec<Heard>>) {
    while let Some(request) = hear(&mut stream) {
        heard.lock().unwrap().push(request);
        let answer = answers.lock().unwrap().pop_front();
        let answer =
            answer.unwrap_or_else(|| Answer::new(400, "", r#"{"error":{"message":"no answer is left"}}"#));
        if answer.write_to(&mut stream).is_err() {
            return;
        }
    }
}

/// Reads a request; `None` if the client is gone.
fn hear(stream: &mut TcpStream) -> Option<Heard> {
    let (head, body) = hear_bytes(stream)?;
    Some(Heard { head, body: serde_json::from_slice(&body).unwrap() })
}

/// As [`hear`], with the body as it is.
pub(crate) fn hear_bytes(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}
