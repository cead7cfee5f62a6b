//! What a service says is wrong, and what follows from it.

use crate::redaction::Redaction;
use haft_model::{ModelError, ProtocolError};
use http::StatusCode;
use serde_json::Value;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// An error, and whether the request can be made again at once.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: ModelError,
    pub(crate) again: bool,
}

impl Fault {
    /// Stands as it is: asking again would not help, or would cost too much.
    pub(crate) fn last(error: impl Into<ModelError>) -> Self {
        Self { error: error.into(), again: false }
    }

    /// May pass by itself.
    pub(crate) fn passing(error: impl Into<ModelError>) -> Self {
        let error = error.into();
        Self { again: error.can_retry(), error }
    }

    /// Says that an answer cannot be read; the next step is to ask again.
    pub(crate) fn unreadable(what: impl fmt::Display) -> Self {
        Self::malformed(format!("{what}; ask again, or choose another model or service if it stays so"))
    }

    /// Says that an answer cannot be read, and what can be done about it.
    pub(crate) fn malformed(what: String) -> Self {
        Self::last(ProtocolError::Unreadable { what, source: None })
    }
}

/// What a service says of an error, in the form that all of them have or come close to.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    /// Its words for the kind: `type` and `code`.
    kinds: Vec<String>,
    message: String,
    status: Option<StatusCode>,
    retry_after: Option<Duration>,
}

/// Why a model cannot be had now, in the service's words and ours.
#[derive(Debug, thiserror::Error)]
#[error("{said}; {next}")]
struct Told {
    said: String,
    next: &'static str,
}

/// What an error comes down to.
enum Class {
    Rate,
    Quota,
    Passing,
    Key,
    Missing,
    TooLarge,
    Elsewhere,
    Request,
    Unknown,
}

const LATER: &str = "try again later, or choose another model";

impl Complaint {
    /// Reads an answer that has a status of failure.
    pub(crate) fn of_answer(status: StatusCode, body: &str, retry_after: Option<Duration>) -> Self {
        // A service may fail in the form of a stream.
        let first = body.strip_prefix("data:").map_or(body, |body| body.lines().next().unwrap_or(body));
        let mut complaint = match serde_json::from_str::<Value>(first) {
            Ok(value) => Self::of_json(&value),
            Err(_) => Self { message: body.trim().to_owned(), ..Self::default() },
        };
        complaint.status = Some(status);
        complaint.retry_after = retry_after;
        complaint
    }

    /// Reads `{"error": {"type", "code", "message"}}` and what comes close to it.
    pub(crate) fn of_json(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let inner = match &value["error"] {
            Value::Null => value,
            inner => inner,
        };
        let message = [inner, &inner["message"], &inner["detail"], &value["message"]];
        let message = message.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned();
        let kinds = [&inner["type"], &inner["code"], &inner["status"]];
        let kinds = kinds.into_iter().filter_map(Value::as_str).filter(|kind| *kind != "error");
        let code = inner["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let status = code.and_then(|code| StatusCode::from_u16(code).ok());
        let mut kinds: Vec<String> = kinds.map(str::to_owned).collect();
        kinds.dedup();
        Self { kinds, message, status, retry_after: None }
    }

    /// Says what follows from it.
    pub(crate) fn fault(self, redaction: &Redaction) -> Fault {
        let class = self.class();
        let status = self.status.map(|status| status.as_str().to_owned());
        let name: Vec<String> = status.into_iter().chain(self.kinds).collect();
        let said = match (name.is_empty(), self.message.is_empty()) {
            (true, true) => "the service gave no reason".to_owned(),
            (true, false) => format!("the service said: {}", self.message),
            (false, true) => format!("the service said {}", name.join(" ")),
            (false, false) => format!("the service said {}: {}", name.join(" "), self.message),
        };
        let said = redaction.show(said.trim_end_matches('.'));
        let refused = |next: &str| Fault::last(ModelError::Refused { reason: format!("{said}; {next}") });
        match class {
            Class::Rate => {
                tracing::debug!(said, "a service limits the rate of requests");
                Fault::passing(ModelError::RateLimited { retry_after: self.retry_after })
            }
            Class::Quota => refused("add credit or raise the limit at the provider, or choose another model"),
            Class::Passing => Fault::passing(ModelError::Unavailable {
                retry_after: self.retry_after,
                source: Some(Box::new(Told { said, next: LATER })),
            }),
            Class::Key => refused("check the API key and what it may be used for"),
            Class::Missing => refused("check the name of the model and the base URL"),
            Class::TooLarge => {
                refused("shorten the transcript, or take large images and documents out of it")
            }
            Class::Elsewhere => refused("set the base URL to where the service is"),
            Class::Request => refused("change the request or the settings of the model as it says"),
            Class::Unknown => Fault::last(ModelError::other(Told { said, next: LATER })),
        }
    }

    fn class(&self) -> Class {
        let has = |words: &[&str]| {
            self.kinds.iter().any(|kind| {
                let kind = kind.to_ascii_lowercase();
                words.iter().any(|word| kind.contains(word))
            })
        };
        let message = self.message.to_ascii_lowercase();
        if has(&["insufficient_quota", "billing"]) || self.is(&[402]) {
            return Class::Quota;
        }
        let is_too_long = ["context length", "context window", "prompt is too long", "maximum context"];
        if has(&["context_length", "request_too_large"])
            || self.is(&[413])
            || self.is(&[400, 422]) && is_too_long.iter().any(|words| message.contains(words))
        {
            return Class::TooLarge;
        }
        if has(&["rate_limit", "resource_exhausted", "too_many_requests"]) || self.is(&[429]) {
            return Class::Rate;
        }
        if self.is(&[408, 409])
            || self.status.is_some_and(|status| status.is_server_error())
            || has(&[
                "overloaded",
                "server_error",
                "servererror",
                "api_error",
                "timeout",
                "unavailable",
                "internal",
            ])
        {
            return Class::Passing;
        }
        if has(&["authentication", "permission", "invalid_api_key"]) || self.is(&[401, 403]) {
            return Class::Key;
        }
        if has(&["not_found"]) || self.is(&[404]) {
            return Class::Missing;
        }
        match self.status {
            Some(status) if status.is_redirection() => Class::Elsewhere,
            Some(_) => Class::Request,
            None if has(&["invalid", "unsupported"]) => Class::Request,
            None => Class::Unknown,
        }
    }

    fn is(&self, statuses: &[u16]) -> bool {
        self.status.is_some_and(|status| statuses.contains(&status.as_u16()))
    }
}

/// Says what follows from a request that brought no answer.
pub(crate) fn unanswered(error: haft_http::Error) -> Fault {
    use haft_http::Error as E;
    let (next, makes): (_, fn(Beside) -> Fault) = match &error {
        E::Connect { .. } => ("check that the service runs, and the base URL", passing),
        E::Interrupted { .. } => ("ask again", passing),
        // It was waited for long enough, and may be billed all the same.
        E::Silent { .. } | E::Stalled { .. } | E::Late { .. } => {
            ("ask again, or wait longer for this model", |error| Fault::last(ModelError::unavailable(error)))
        }
        E::Address { .. } => ("permit it in the client's address policy, or change the base URL", last),
        E::Certificate { .. } => {
            ("give the client the authority that signed it, or change the base URL", last)
        }
        _ => ("check the base URL", last),
    };
    makes(Beside { error, next })
}

fn passing(error: Beside) -> Fault {
    Fault::passing(ModelError::unavailable(error))
}

fn last(error: Beside) -> Fault {
    Fault::last(ModelError::other(error))
}

/// An error of the client's, with what can be done about it.
#[derive(Debug)]
struct Beside {
    error: haft_http::Error,
    next: &'static str,
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.error, self.next)
    }
}

impl Error for Beside {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
