use crate::client::auth::Token;
use rmcp::transport::StoredCredentials;
use rmcp::transport::auth::OAuthClientConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long before its end a token is replaced.
const EARLY: Duration = Duration::from_secs(30);

/// Is a login as it is kept: the library's own record of it, and what that lacks.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Login {
    /// The server that the token is for; it is sent to no other.
    pub(super) resource: String,
    /// The secret of the client, if it was given one when it registered.
    pub(super) client_secret: Option<String>,
    /// Where the client has said that it is come back to.
    pub(super) redirect_url: String,
    pub(super) stored: StoredCredentials,
}

impl Login {
    /// The token that is sent.
    pub(super) fn token(&self) -> Option<Token> {
        Token::new(self.response().get("access_token")?.as_str()?)
    }

    /// The client that has logged in.
    pub(super) fn client(&self) -> OAuthClientConfig {
        let mut client = OAuthClientConfig::new(&self.stored.client_id, &self.redirect_url);
        client.client_secret.clone_from(&self.client_secret);
        client
    }

    /// Tells whether the token can be replaced without a person.
    pub(super) fn can_refresh(&self) -> bool {
        self.response().get("refresh_token").is_some_and(Value::is_string)
    }

    /// Tells whether the token has ended, or is about to.
    pub(super) fn is_over(&self) -> bool {
        let lasts = self.response().get("expires_in").and_then(Value::as_u64);
        let (Some(lasts), Some(since)) = (lasts, self.stored.token_received_at) else { return false };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now + EARLY >= Duration::from_secs(since.saturating_add(lasts))
    }

    /// The library shows of its answers what it knows; as JSON they show all.
    fn response(&self) -> Value {
        serde_json::to_value(&self.stored.token_response).unwrap_or_default()
    }
}
