use crate::document::{Inner, Version};
use crate::plan::Place;
use crate::store::{At, Store};
use http::HeaderName;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most schemes of a document that are looked at.
const MOST: usize = 10_000;

/// Holds the security schemes of a document by name, or why one of them cannot be used.
#[derive(Debug, Default)]
pub(crate) struct Schemes(BTreeMap<String, Result<Arc<Scheme>, &'static str>>);

/// Says how a credential is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// In a place of a name.
    Key {
        place: KeyPlace,
        name: String,
    },
    Basic,
    /// Behind a word in `Authorization`, `Bearer` most of the time.
    Bearer {
        word: String,
    },
    /// As a bearer token.
    OAuth {
        /// Where a client gets tokens for itself, as the document says.
        token_url: Option<String>,
    },
    OpenId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    Header,
    Query,
    Cookie,
}

impl KeyPlace {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Query => "query",
            Self::Cookie => "cookie",
        }
    }
}

impl Schemes {
    pub(crate) fn of(document: &Inner) -> Self {
        let schemes = stated_schemes(&document.store).map(|(name, scheme)| {
            let scheme = scheme.ok_or("its reference leads nowhere");
            (name.to_owned(), scheme.and_then(|scheme| scheme_of(scheme, document.version).map(Arc::new)))
        });
        Self(schemes.collect())
    }

    pub(crate) fn get(&self, name: &str) -> Result<&Arc<Scheme>, &'static str> {
        match self.0.get(name) {
            Some(Ok(scheme)) => Ok(scheme),
            Some(Err(why)) => Err(why),
            None => Err("the document does not describe it"),
        }
    }
}

/// Gives the security schemes that a document states, by name; nothing of one whose reference leads nowhere.
pub(crate) fn stated_schemes(store: &Store) -> impl Iterator<Item = (&str, Option<&Value>)> {
    let root = store.root();
    let components = root.value.get("components").and_then(|members| members.get("securitySchemes"));
    let listed = components.or_else(|| root.value.get("securityDefinitions")).and_then(Value::as_object);
    listed.into_iter().flatten().take(MOST).map(move |(name, scheme)| {
        let at = store.follow(At { file: root.file, value: scheme });
        (name.as_str(), at.ok().map(|at| at.value))
    })
}

/// Reads a member of a security scheme; white space around it, which some leave, is no part of it.
pub(crate) fn stated<'d>(scheme: &'d Value, member: &str) -> Option<&'d str> {
    scheme.get(member).and_then(Value::as_str).map(str::trim)
}

fn scheme_of(scheme: &Value, version: Version) -> Result<Scheme, &'static str> {
    let text = |member: &str| stated(scheme, member);
    match text("type").unwrap_or_default() {
        "apiKey" => {
            let name = text("name")
                .filter(|name| !name.is_empty())
                .ok_or("it does not say what the key is called")?;
            let place = match text("in").and_then(Place::parse) {
                Some(Place::Header) => KeyPlace::Header,
                Some(Place::Query) => KeyPlace::Query,
                Some(Place::Cookie) => KeyPlace::Cookie,
                _ => return Err("it does not say where the key is sent"),
            };
            let is_named_well = match place {
                KeyPlace::Header => HeaderName::from_bytes(name.as_bytes()).is_ok(),
                KeyPlace::Cookie => {
                    name.bytes().all(|byte| byte.is_ascii_graphic() && !b"=;,\"\\".contains(&byte))
                }
                KeyPlace::Query => true,
            };
            if !is_named_well {
                return Err("nothing can be called as its key is");
            }
            Ok(Scheme::Key { place, name: name.to_owned() })
        }
        // The first is how Swagger 2.0 says it.
        "basic" => Ok(Scheme::Basic),
        "http" => match text("scheme").unwrap_or_default() {
            word if word.eq_ignore_ascii_case("basic") => Ok(Scheme::Basic),
            word if word.eq_ignore_ascii_case("bearer") => Ok(Scheme::Bearer { word: "Bearer".to_owned() }),
            "" => Err("it does not say which scheme of HTTP it is"),
            word if ["digest", "negotiate", "hoba", "mutual", "scram-sha-1", "scram-sha-256", "dpop"]
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known)) =>
            {
                Err("its scheme of HTTP needs more than a secret, and is not known here")
            }
            word if HeaderName::from_bytes(word.as_bytes()).is_ok() => {
                Ok(Scheme::Bearer { word: word.to_owned() })
            }
            _ => Err("its scheme of HTTP is not a word"),
        },
        "oauth2" => Ok(oauth(scheme, version)),
        "openIdConnect" => Ok(Scheme::OpenId),
        "mutualTLS" => Err("certificates of clients are not known here"),
        _ => Err("its type is not known here"),
    }
}

fn oauth(scheme: &Value, version: Version) -> Scheme {
    let url = |flow: &Value| flow.get("tokenUrl").and_then(Value::as_str).map(str::to_owned);
    if version == Version::Swagger2 {
        let flow = scheme.get("flow").and_then(Value::as_str).unwrap_or_default();
        return Scheme::OAuth { token_url: (flow == "application").then(|| url(scheme)).flatten() };
    }
    let flow = scheme.get("flows").and_then(|flows| flows.get("clientCredentials"));
    Scheme::OAuth { token_url: flow.and_then(url) }
}
