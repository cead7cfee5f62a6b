//! What follows from an error of the crate `genai`.

use crate::complaint::{Complaint, Fault, unanswered};
use crate::redaction::Redaction;
use crate::retry_after::retry_after;
use genai::webc::{Error as WebError, StreamTimeout};
use genai::{BoxError, Error};
use haft_model::ModelError;
use http::{HeaderMap, StatusCode};

/// Says what follows from it.
pub(super) fn of(error: Error, host: &str, redaction: &Redaction) -> Fault {
    match error {
        Error::HttpError { status, body, headers, .. } => refused(status, &body, &headers, redaction),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => match webc_error
        {
            WebError::ResponseFailedStatus { status, body, headers } => {
                refused(status, &body, &headers, redaction)
            }
            WebError::Reqwest(error) => of_transport(error.into(), host, redaction),
            other => unreadable(&other, redaction),
        },
        Error::WebStream { error, .. } => of_transport(error, host, redaction),
        Error::ChatResponse { body, .. } => Complaint::of_json(&body).fault(redaction),
        Error::StreamParse { .. } => Fault::unreadable("an event is not JSON"),
        other => unreadable(&other, redaction),
    }
}

/// Says what follows from one that came before anything was sent, or with the answer's head.
pub(super) fn of_request(error: Error, host: &str, redaction: &Redaction) -> Fault {
    match error {
        Error::HttpError { .. }
        | Error::WebModelCall { .. }
        | Error::WebAdapterCall { .. }
        | Error::WebStream { .. } => of(error, host, redaction),
        unsaid => {
            let what = redaction.show(&unsaid.to_string());
            let reason =
                format!("its adapter cannot express the request: {what}; choose another adapter or model");
            Fault::last(ModelError::Refused { reason })
        }
    }
}

fn refused(status: StatusCode, body: &str, headers: &HeaderMap, redaction: &Redaction) -> Fault {
    let mut fault = Complaint::of_answer(status, body, retry_after(headers)).fault(redaction);
    fault.again &= headers.get("x-should-retry").is_none_or(|value| value != "false");
    fault
}

fn of_transport(error: BoxError, host: &str, redaction: &Redaction) -> Fault {
    let error = match error.downcast::<Error>() {
        Ok(error) => return of(*error, host, redaction),
        Err(error) => error,
    };
    let error = match error.downcast::<StreamTimeout>() {
        // The model's patience says how long that is.
        Ok(timeout) => {
            let what = format!("{host}: {timeout}; ask again, or wait longer for this model");
            return Fault::last(ModelError::unavailable(what));
        }
        Err(error) => error,
    };
    match haft_http::Error::of_beneath(error, host) {
        Ok(error) => unanswered(error),
        Err(other) => unreadable(&*other, redaction),
    }
}

fn unreadable(error: &(dyn std::error::Error + 'static), redaction: &Redaction) -> Fault {
    Fault::unreadable(redaction.show(&error.to_string()))
}
