//! The judge as a server: it answers a request, and says what it has against it.

use haft_http::{AddressPolicy, Exchange, HttpClient};
use haft_openapi::Operation;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// How long an answer may take: some are made of schemas without end.
const PATIENCE: Duration = Duration::from_mins(1);

/// Asks a prism that serves a document.
pub(crate) struct Prism {
    client: HttpClient,
    /// A credential for each way in which the document wants one in a header: whose they are is no question for the judge.
    credentials: Vec<(HeaderName, HeaderValue)>,
}

impl Prism {
    pub(crate) fn new(document: &Path) -> Result<Self, Box<dyn Error>> {
        let document: Value = serde_json::from_slice(&std::fs::read(document)?)?;
        let schemes = document["components"]["securitySchemes"].as_object();
        let mut credentials = Vec::new();
        for scheme in schemes.into_iter().flat_map(Map::values) {
            let text = |member: &str| scheme[member].as_str().unwrap_or_default();
            let (name, value) = match (text("type"), text("scheme"), text("in")) {
                ("apiKey", _, "header") => (text("name"), "key"),
                ("apiKey", ..) => continue,
                ("http", "basic", _) => ("Authorization", "Basic dTpw"),
                _ => ("Authorization", "Bearer token"),
            };
            credentials.push((HeaderName::from_bytes(name.as_bytes())?, HeaderValue::from_static(value)));
        }
        Ok(Self { client: HttpClient::new(AddressPolicy::public().loopback())?, credentials })
    }

    /// Sends a request and gives what is said against it; nothing if it is taken.
    pub(crate) async fn says(
        &self,
        operation: &Operation,
        arguments: &Value,
    ) -> Result<Option<String>, Box<dyn Error>> {
        let parts = match operation.encode(arguments) {
            Ok(parts) => parts,
            Err(error) => return Ok(Some(format!("it is not sent: {error}"))),
        };
        let url = parts.url().to_owned();
        let mut request = parts.into_request()?;
        request.headers_mut().extend(self.credentials.iter().cloned());
        let exchange = Exchange::default().first_byte_timeout(PATIENCE);
        let answer = self.client.send(request, exchange).await.map_err(|error| format!("{url}: {error}"))?;
        let status = answer.status();
        let header = answer.headers().get("sl-violations").map(|header| header.as_bytes().to_vec());
        let body = answer.into_body().bytes().await.unwrap_or_default();
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let said = against(header.as_deref(), &problem);
        Ok(said.map(|said| format!("{status} {said}; {url}")))
    }
}

/// Reads what is said against a request: of an operation that declares replies for that, in a header only.
fn against(header: Option<&[u8]>, problem: &Value) -> Option<String> {
    let listed = match header.map(String::from_utf8_lossy) {
        None => problem["validation"].clone(),
        Some(header) => match serde_json::from_str(&header) {
            Ok(listed) => listed,
            // A long list is cut, behind a word on that; what is said of the request stands first in it.
            Err(_) if header.contains(r#""location":["request""#) => return Some(header.into_owned()),
            Err(_) => Value::Null,
        },
    };
    let violations = listed.as_array().into_iter().flatten();
    let of_request: Vec<String> = violations
        .filter(|violation| violation["location"][0] != "response")
        .map(|violation| format!("{} {}", violation["location"], violation["message"]))
        .collect();
    if !of_request.is_empty() {
        return Some(of_request.join("; "));
    }
    let kind = problem["type"].as_str()?.strip_prefix("https://stoplight.io/prism/errors#")?;
    // What is said of a reply that prism has made itself, once the request has passed.
    let is_of_reply = matches!(kind, "VIOLATIONS" | "NO_RESPONSE_RESPONSE_DEFINED");
    (!is_of_reply).then(|| format!("{kind} {}", problem["detail"]))
}
