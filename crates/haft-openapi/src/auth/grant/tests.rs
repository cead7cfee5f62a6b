use super::{Keyring, With};
use crate::auth::requirement::{Requirement, SchemeUse};
use crate::auth::{ClientCredentials, Credential, Schemes, ServerOrigin};
use crate::{Document, LoadOptions};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// The last one is described nowhere, and the one before cannot be used.
const NAMES: [&str; 6] = ["key", "basic", "bearer", "client", "tls", "unknown"];
const ORIGINS: [&str; 3] = ["https://a.example", "https://a.example:444", "http://a.example"];

fn keyring(given: &BTreeSet<usize>, origins: &BTreeSet<usize>) -> Keyring {
    let document = json!({
        "openapi": "3.1.0", "paths": {},
        "components": { "securitySchemes": {
            "key": { "type": "apiKey", "in": "header", "name": "X-Key" },
            "basic": { "type": "http", "scheme": "basic" },
            "bearer": { "type": "http", "scheme": "bearer" },
            "client": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "https://a.example/t", "scopes": {} } } },
            "tls": { "type": "mutualTLS" },
        } },
    });
    let document = Document::from_value(document, &LoadOptions::default()).unwrap();
    let given = given.iter().map(|index| {
        let credential = match NAMES[*index] {
            "basic" => Credential::basic("u", "p"),
            "client" => ClientCredentials::new("i", "s").into(),
            _ => Credential::secret("s"),
        };
        (NAMES[*index].to_owned(), credential)
    });
    Keyring {
        document: "api".to_owned(),
        schemes: Schemes::of(document.inner()),
        credentials: Box::new(given.collect::<BTreeMap<_, _>>()),
        origins: origins.iter().map(|index| ORIGINS[*index].parse().unwrap()).collect(),
    }
}

fn subset(most: usize) -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0..most, 0..=most)
}

#[test]
fn no_token_is_fetched_where_others_listen() {
    let document = |token_url: &str| {
        let flows = json!({ "clientCredentials": { "tokenUrl": token_url, "scopes": {} } });
        let schemes = json!({ "client": { "type": "oauth2", "flows": flows } });
        let document =
            json!({ "openapi": "3.1.0", "paths": {}, "components": { "securitySchemes": schemes } });
        Document::from_value(document, &LoadOptions::default()).unwrap()
    };
    let uses = vec![SchemeUse { scheme: "client".to_owned(), scopes: Vec::new() }];
    let requirement = Requirement { ways: vec![uses] };
    let granted = |token_url: &str| {
        let schemes = Schemes::of(document(token_url).inner());
        let keyring = Keyring { schemes, ..keyring(&BTreeSet::from([3]), &BTreeSet::from([0, 2])) };
        keyring.grant(&requirement, &Url::parse("https://a.example/v1").unwrap()).is_ok()
    };
    assert!(granted("https://a.example/t"));
    assert!(!granted("http://a.example/t"));
}

proptest! {
    /// What is shown is the whole of one way, the host has all of it, and it goes where the host allows.
    #[test]
    fn what_is_shown_is_wanted_given_and_allowed(
        ways in prop::collection::vec(subset(NAMES.len()), 0..4),
        given in subset(NAMES.len()),
        origins in subset(ORIGINS.len()),
        server in 0..ORIGINS.len(),
    ) {
        let keyring = keyring(&given, &origins);
        let names = |way: &BTreeSet<usize>| way.iter().map(|index| NAMES[*index].to_owned()).collect::<Vec<_>>();
        let uses = ways.iter().map(|way| {
            names(way).into_iter().map(|scheme| SchemeUse { scheme, scopes: Vec::new() }).collect()
        });
        let requirement = Requirement { ways: uses.collect() };
        let url = Url::parse(&format!("{}/v1", ORIGINS[server])).unwrap();
        let is_optional = ways.is_empty() || ways.iter().any(BTreeSet::is_empty);
        match keyring.grant(&requirement, &url) {
            Ok(grant) if grant.shown.is_empty() => prop_assert!(is_optional),
            Ok(grant) => {
                let shown: Vec<String> = grant.shown.iter().map(|shown| shown.name.clone()).collect();
                prop_assert!(ways.iter().any(|way| names(way) == shown));
                prop_assert!(shown.iter().all(|name| given.iter().any(|index| NAMES[*index] == name)));
                prop_assert!(origins.contains(&server));
                for shown in &grant.shown {
                    if let With::Client(client) = &shown.with {
                        prop_assert!(keyring.allows(&ServerOrigin::of(&client.token_url).unwrap()));
                    }
                }
            }
            Err(error) => {
                prop_assert!(!is_optional);
                let message = error.message();
                prop_assert!(message.contains("nothing was sent") && message.contains("`api`"), "{}", message);
                let is_named = ways.iter().flat_map(names).any(|name| message.contains(&format!("`{name}`")));
                prop_assert!(is_named, "{}", message);
            }
        }
    }
}
