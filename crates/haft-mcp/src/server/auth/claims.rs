use super::authorization_server::AuthorizationServer;
use crate::server::authenticator::AuthenticationError;
use crate::server::caller::Principal;
use crate::shown::is_hiding;
use serde::Deserialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// By how many seconds clocks may differ.
const LEEWAY: f64 = 60.0;
/// How many bytes a subject may have (`OpenID` Connect, section 2).
const LONGEST: usize = 255;

/// Is what an authorization server says of a token (RFC 7519, section 4.1; RFC 9068; RFC 7662, section 2.2).
#[derive(Debug, Default, Deserialize)]
pub(super) struct Claims {
    #[serde(default)]
    pub(super) iss: Option<String>,
    #[serde(default)]
    sub: Option<String>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    aud: Option<Texts>,
    #[serde(default)]
    pub(super) exp: Option<f64>,
    #[serde(default)]
    nbf: Option<f64>,
    #[serde(default)]
    scope: Option<Texts>,
    #[serde(default)]
    scp: Option<Texts>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Claims {
    /// Checks who may call with the token; `now` in seconds since the Unix epoch.
    pub(super) fn check(
        &self,
        server: &AuthorizationServer,
        now: f64,
    ) -> Result<Principal, AuthenticationError> {
        let unknown = |why: &str| Err(AuthenticationError::Unknown(why.to_owned()));
        if self.iss.as_ref() != Some(&server.issuer) {
            return unknown("the token is of another issuer");
        }
        match &self.aud {
            Some(Texts::One(one)) if *one == server.resource => {}
            Some(Texts::Many(many)) if many.contains(&server.resource) => {}
            _ => return unknown("the token is not for this server"),
        }
        match self.exp {
            None => return unknown("the token has no end"),
            Some(exp) if exp + LEEWAY <= now => return unknown("the token has expired"),
            Some(_) => {}
        }
        if self.nbf.is_some_and(|nbf| nbf - LEEWAY > now) {
            return unknown("the token is not valid yet");
        }
        let who = match (&self.sub, &self.client_id) {
            (Some(subject), _) => ('#', subject),
            (None, Some(client)) => ('?', client),
            (None, None) => return unknown("the token names nobody"),
        };
        if who.1.is_empty() || who.1.len() > LONGEST || who.1.contains('\n') || is_hiding(who.1) {
            return unknown("the token names nobody");
        }
        let missing = server.scopes.iter().any(|scope| !self.has(scope));
        if missing {
            return Err(AuthenticationError::Scope(server.scopes.join(" ")));
        }
        Ok(Principal::new(format!("{}{}{}", server.issuer, who.0, who.1)))
    }

    fn has(&self, scope: &str) -> bool {
        [&self.scope, &self.scp].into_iter().flatten().any(|texts| match texts {
            Texts::One(text) => text.split(' ').any(|one| one == scope),
            Texts::Many(texts) => texts.iter().any(|one| one == scope),
        })
    }
}

/// The time in seconds since the Unix epoch.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: f64 = 1_000_000.0;

    fn check(change: impl FnOnce(&mut Value), expected: Result<&str, AuthenticationError>) {
        let mut claims = json!({
            "iss": "https://id.example", "sub": "alice", "aud": "https://mcp.example/mcp",
            "exp": NOW + 10.0, "scope": "a tools b",
        });
        change(&mut claims);
        let server =
            AuthorizationServer::new("https://id.example", "https://mcp.example/mcp").unwrap().scope("tools");
        let checked = serde_json::from_value::<Claims>(claims).unwrap().check(&server, NOW);
        assert_eq!(checked, expected.map(Principal::new));
    }

    fn unknown(why: &str) -> Result<&str, AuthenticationError> {
        Err(AuthenticationError::Unknown(why.to_owned()))
    }

    #[test]
    fn takes_a_token_that_is_for_here() {
        check(|_| {}, Ok("https://id.example#alice"));
        check(
            |claims| claims["aud"] = json!(["other", "https://mcp.example/mcp"]),
            Ok("https://id.example#alice"),
        );
        check(|claims| claims["scope"] = json!(["tools"]), Ok("https://id.example#alice"));
        check(
            |claims| {
                claims["scope"].take();
                claims["scp"] = json!("tools");
            },
            Ok("https://id.example#alice"),
        );
        check(
            |claims| {
                claims["sub"].take();
                claims["client_id"] = json!("robot");
            },
            Ok("https://id.example?robot"),
        );
        // Clocks may differ by a minute.
        check(|claims| claims["exp"] = json!(NOW - 59.5), Ok("https://id.example#alice"));
        check(|claims| claims["nbf"] = json!(NOW + 60.0), Ok("https://id.example#alice"));
    }

    #[test]
    fn refuses_any_other() {
        check(
            |claims| claims["iss"] = json!("https://id.example/"),
            unknown("the token is of another issuer"),
        );
        check(|claims| _ = claims["iss"].take(), unknown("the token is of another issuer"));
        for aud in [json!("https://mcp.example"), json!([]), json!("https://mcp.example/mcp "), Value::Null] {
            check(|claims| claims["aud"] = aud, unknown("the token is not for this server"));
        }
        check(|claims| claims["exp"] = json!(NOW - 60.0), unknown("the token has expired"));
        check(|claims| _ = claims["exp"].take(), unknown("the token has no end"));
        check(|claims| claims["nbf"] = json!(NOW + 61.0), unknown("the token is not valid yet"));
        for sub in [json!(""), json!("a\nb"), json!("a\u{202e}b"), json!("a".repeat(256)), Value::Null] {
            check(|claims| claims["sub"] = sub, unknown("the token names nobody"));
        }
        for scope in [json!("tool"), json!("tools:read"), json!(["a tools"]), Value::Null] {
            check(|claims| claims["scope"] = scope, Err(AuthenticationError::Scope("tools".into())));
        }
    }
}
