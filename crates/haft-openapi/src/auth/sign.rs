use crate::auth::scheme::KeyPlace;
use crate::auth::{Scheme, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_core::ToolError;
use haft_tools_core::{Redactor, SecretError};
use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use url::Url;
use url::form_urlencoded::byte_serialize;

/// Is what is shown for a scheme, once it is there.
#[derive(Debug, Clone)]
pub(crate) enum Token {
    Secret(Secret),
    Basic { user: String, password: Secret },
}

/// Puts what is shown for a scheme into a request, and has it redacted from now on.
pub(crate) fn sign(
    (url, headers): (&mut Url, &mut HeaderMap),
    (name, scheme): (&str, &Scheme),
    token: &Token,
    redactor: &Redactor,
) -> Result<(), ToolError> {
    let unfit = || {
        ToolError::failed(format!(
            "the credential `{name}` has characters that cannot be sent; nothing was sent, ask the person who set this API \
             up to look at it"
        ))
    };
    match token {
        Token::Secret(secret) => {
            let text = secret.expose();
            redact(redactor, text)?;
            match scheme {
                Scheme::Key { place: KeyPlace::Query, name: key } => {
                    let encoded: String = byte_serialize(text.as_bytes()).collect();
                    redact(redactor, &encoded)?;
                    // What stands there is kept to the byte, since it was written for this API.
                    let key: String = byte_serialize(key.as_bytes()).collect();
                    let pair = format!("{key}={encoded}");
                    // A redirect may have repeated it.
                    let said = url
                        .query()
                        .unwrap_or_default()
                        .split('&')
                        .filter(|said| !said.is_empty() && said.split('=').next() != Some(key.as_str()));
                    let query: Vec<&str> = said.chain([pair.as_str()]).collect();
                    let query = query.join("&");
                    url.set_query(Some(&query));
                }
                Scheme::Key { place: KeyPlace::Cookie, name: key } => {
                    if text.bytes().any(|byte| byte == b';' || byte == b',' || byte.is_ascii_whitespace()) {
                        return Err(unfit());
                    }
                    let pair = format!("{key}={text}");
                    let all = match headers.get(COOKIE).and_then(|cookies| cookies.to_str().ok()) {
                        Some(cookies) => format!("{cookies}; {pair}"),
                        None => pair,
                    };
                    headers.insert(COOKIE, secret_value(&all).ok_or_else(unfit)?);
                }
                Scheme::Key { place: KeyPlace::Header, name: key } => {
                    let header = HeaderName::from_bytes(key.as_bytes()).map_err(|_| unfit())?;
                    put(headers, name, header, secret_value(text).ok_or_else(unfit)?)?;
                }
                Scheme::Bearer { word } => {
                    let value = secret_value(&format!("{word} {text}")).ok_or_else(unfit)?;
                    put(headers, name, AUTHORIZATION, value)?;
                }
                Scheme::OAuth { .. } | Scheme::OpenId | Scheme::Basic => {
                    let value = secret_value(&format!("Bearer {text}")).ok_or_else(unfit)?;
                    put(headers, name, AUTHORIZATION, value)?;
                }
            }
        }
        Token::Basic { user, password } => {
            if user.contains(':') {
                return Err(unfit());
            }
            let both = STANDARD.encode(format!("{user}:{}", password.expose()));
            redact(redactor, password.expose())?;
            redact(redactor, &both)?;
            put(headers, name, AUTHORIZATION, secret_value(&format!("Basic {both}")).ok_or_else(unfit)?)?;
        }
    }
    Ok(())
}

/// Has a secret redacted, unless it is so short that it would be found in ordinary text everywhere.
///
/// One that cannot be redacted is not to be sent.
pub(crate) fn redact(redactor: &Redactor, secret: &str) -> Result<(), ToolError> {
    match redactor.add(secret) {
        Ok(()) | Err(SecretError::TooShort { .. }) => Ok(()),
        Err(error) => Err(ToolError::failed(
            "a credential of this API cannot be kept out of what is shown, so it was not sent; go on without this call",
        )
        .with_source(error)),
    }
}

fn put(headers: &mut HeaderMap, name: &str, header: HeaderName, value: HeaderValue) -> Result<(), ToolError> {
    if headers.contains_key(&header) {
        return Err(ToolError::failed(format!(
            "the credential `{name}` is sent in the header `{header}`, where something else is sent already; nothing was \
             sent, go on without this call"
        )));
    }
    headers.insert(header, value);
    Ok(())
}

fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::{Token, sign};
    use crate::auth::scheme::KeyPlace;
    use crate::auth::{Scheme, Secret};
    use haft_tools_core::Redactor;
    use http::HeaderMap;
    use proptest::prelude::*;
    use url::Url;

    fn scheme() -> impl Strategy<Value = Scheme> {
        let key = |place, name: &str| Scheme::Key { place, name: name.to_owned() };
        prop_oneof![
            Just(key(KeyPlace::Header, "X-Key")),
            Just(key(KeyPlace::Query, "k y&")),
            Just(key(KeyPlace::Cookie, "session")),
            Just(Scheme::Bearer { word: "Token".to_owned() }),
            Just(Scheme::OpenId),
        ]
    }

    #[test]
    fn a_secret_that_cannot_be_redacted_is_not_sent() {
        let (mut url, mut headers) = (Url::parse("https://api.example/").unwrap(), HeaderMap::new());
        let token = Token::Secret(Secret::new("x".repeat(65_537)));
        let error =
            sign((&mut url, &mut headers), ("name", &Scheme::OpenId), &token, &Redactor::new()).unwrap_err();
        let told = "a credential of this API cannot be kept out of what is shown, so it was not sent; go on without this \
                    call";
        assert_eq!((error.message(), headers.len()), (told, 0));
    }

    proptest! {
        /// Whatever a secret is made of, it changes nothing but its own place, and is redacted once it is sent.
        #[test]
        fn a_secret_stays_in_its_place(
            scheme in scheme(),
            secret in "[ -~\u{e9}\r\n\t]{4,40}",
            path in "(/[a-z%]{0,5}){1,3}",
            query in "([a-z]=[a-z0-9+]{0,4}&?){0,3}",
        ) {
            let before = Url::parse(&format!("https://api.example:8443{path}?{query}")).unwrap();
            let (mut url, mut headers, redactor) = (before.clone(), HeaderMap::new(), Redactor::new());
            let token = Token::Secret(Secret::new(&secret));
            let signed = sign((&mut url, &mut headers), ("name", &scheme), &token, &redactor);
            prop_assert_eq!((url.origin(), url.path(), url.fragment()), (before.origin(), before.path(), None));
            let pairs = |url: &Url| url.query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())).collect::<Vec<_>>();
            let mut expected: Vec<_> = pairs(&before);
            match (&scheme, signed) {
                (Scheme::Key { place: KeyPlace::Query, name }, signed) => {
                    prop_assert!(signed.is_ok() && headers.is_empty());
                    expected.push((name.clone(), secret.trim().to_owned()));
                }
                (_, Ok(())) => {
                    prop_assert_eq!(headers.len(), 1);
                    let value = headers.values().next().unwrap();
                    prop_assert!(value.is_sensitive());
                    if secret.trim().len() >= 4 && secret.is_ascii() {
                        let redacted = redactor.redact(value.to_str().unwrap()).into_owned();
                        prop_assert!(redacted.contains("[redacted]"), "{}", redacted);
                    }
                }
                (_, Err(error)) => {
                    prop_assert!(headers.is_empty());
                    prop_assert!(!error.message().contains(secret.trim()) || secret.trim().len() < 4);
                }
            }
            prop_assert_eq!(pairs(&url), expected);
        }
    }
}
