use super::reply::Notice;
use crate::server::authenticator::AuthenticationError;
use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use serde_json::Value;
use std::time::Duration;

/// Tells clients how they can become known: the document of RFC 9728, and where it is.
#[derive(Debug, Default)]
pub(super) struct Challenge {
    document: Option<Bytes>,
    /// Where the document is, if its resource is an address.
    address: Option<String>,
}

impl Challenge {
    pub(super) fn new(document: Option<&Value>) -> Self {
        let address = document.and_then(|document| document.get("resource")?.as_str()).and_then(well_known);
        Self { document: document.map(|document| document.to_string().into()), address }
    }

    pub(super) fn document(&self) -> Option<Bytes> {
        self.document.clone()
    }

    /// Refuses a request; `had_token` says that it had one, which the client is told does not count.
    pub(super) fn answer(&self, denied: AuthenticationError, had_token: bool) -> Notice {
        let (status, why, mut challenge, reason) = match denied {
            AuthenticationError::Unknown(reason) => {
                let error = if had_token { vec![("error", "invalid_token".to_owned())] } else { Vec::new() };
                let why = "send a token as `Authorization: Bearer`";
                (StatusCode::UNAUTHORIZED, why, error, reason)
            }
            AuthenticationError::Scope(scope) => {
                let error = vec![("error", "insufficient_scope".to_owned()), ("scope", scope.clone())];
                (
                    StatusCode::FORBIDDEN,
                    "your token lacks a scope that is needed here; send one that has it",
                    error,
                    format!("needs {scope}"),
                )
            }
            AuthenticationError::Unavailable(reason) => {
                let why = "tokens cannot be checked now; send the request again in a few seconds, and tell who runs this server if that goes on";
                let notice = Notice::refusal(StatusCode::SERVICE_UNAVAILABLE, why);
                return notice.after(Duration::from_secs(5)).because(reason);
            }
        };
        challenge.extend(self.address.clone().map(|address| ("resource_metadata", address)));
        let challenge: Vec<String> =
            challenge.iter().map(|(name, value)| format!("{name}=\"{}\"", quotable(value))).collect();
        let text = format!("Bearer {}", challenge.join(", "));
        let value = HeaderValue::from_str(text.trim_end()).unwrap_or(HeaderValue::from_static("Bearer"));
        Notice::refusal(status, why).header(WWW_AUTHENTICATE, value).because(reason)
    }
}

/// Says where the document of a resource is: its well-known path stands before its own (RFC 9728, section 3.1).
fn well_known(resource: &str) -> Option<String> {
    let (scheme, rest) = resource.split_once("://")?;
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let path = if path == "/" { "" } else { path };
    Some(format!("{scheme}://{authority}/.well-known/oauth-protected-resource{path}"))
}

/// Leaves out what would end a quoted text.
fn quotable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~') && !matches!(c, '"' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(
        document: Option<&Value>,
        denied: AuthenticationError,
        had_token: bool,
        expected: (u16, Option<&str>),
    ) {
        let response = Challenge::new(document).answer(denied, had_token).into_response::<()>();
        let challenge = response.headers().get(WWW_AUTHENTICATE).map(|value| value.to_str().unwrap());
        assert_eq!((response.status().as_u16(), challenge), expected);
    }

    #[test]
    fn says_where_tokens_are_to_be_had() {
        let document = json!({ "resource": "https://mcp.example.org/mcp" });
        let unknown = || AuthenticationError::Unknown("no token".into());
        check(None, unknown(), false, (401, Some("Bearer")));
        check(None, unknown(), true, (401, Some("Bearer error=\"invalid_token\"")));
        let at = "resource_metadata=\"https://mcp.example.org/.well-known/oauth-protected-resource/mcp\"";
        check(Some(&document), unknown(), false, (401, Some(&format!("Bearer {at}"))));
        let scope = AuthenticationError::Scope("tools:\"call\n".into());
        let expected = format!("Bearer error=\"insufficient_scope\", scope=\"tools:call\", {at}");
        check(Some(&document), scope, true, (403, Some(&expected)));
        check(None, AuthenticationError::Unavailable("down".into()), true, (503, None));
    }

    #[test]
    fn the_document_stands_before_the_path_of_its_resource() {
        let check = |resource: &str, expected: Option<&str>| {
            assert_eq!(well_known(resource).as_deref(), expected);
        };
        check("https://a.example", Some("https://a.example/.well-known/oauth-protected-resource"));
        check("https://a.example/", Some("https://a.example/.well-known/oauth-protected-resource"));
        check(
            "https://a.example:8/b/c",
            Some("https://a.example:8/.well-known/oauth-protected-resource/b/c"),
        );
        check("urn:a", None);
    }
}
