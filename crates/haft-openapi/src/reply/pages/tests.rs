use super::{MOST_VALUE_BYTES, leading, link, telling};
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn found(text: &str) -> Option<String> {
    let mut headers = HeaderMap::new();
    headers.insert("link", HeaderValue::from_str(text).unwrap());
    link(&headers)
}

#[test]
fn the_link_to_the_next_page_is_found_among_others() {
    for (text, expected) in [
        ("<a>; rel=next", Some("a")),
        ("<a>;rel=\"next\"", Some("a")),
        ("<a>; rel=prev,<b>; REL=\"last Next\"", Some("b")),
        ("<a>; title=\"x, rel=next\"; rel=prev, <b,c>; rel=next", Some("b,c")),
        ("<a>; rel=nexter", None),
        ("<a", None),
        ("a; rel=next", None),
        ("", None),
    ] {
        assert_eq!(found(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn a_reply_is_looked_through_no_deeper_than_cursors_stand() {
    let deep = (0..20).fold(json!({ "next": 1 }), |inside, _| json!({ "paging": inside }));
    assert_eq!(telling(deep.as_object().unwrap()).len(), 0);
    let near = json!({ "paging": { "cursors": { "after": "z", "other": 1 } }, "has_more": true });
    let found: Vec<&str> = telling(near.as_object().unwrap()).iter().map(|told| told.name).collect();
    assert_eq!(found, ["has_more", "after"]);
    let wide: Map<String, Value> = (0..1000).map(|number| (format!("n{number}"), json!(1))).collect();
    assert_eq!(telling(&wide).len(), 0);
}

#[test]
fn what_leads_on_is_as_short_in_an_object_as_outside_of_one() {
    for (length, leads) in [(0, false), (1, true), (MOST_VALUE_BYTES, true), (MOST_VALUE_BYTES + 1, false)] {
        let text = Value::from("x".repeat(length));
        assert_eq!(leading(&text), leads.then_some(&text), "{length}");
        let link = json!({ "href": text });
        assert_eq!(leading(&link), leads.then_some(&text), "{length}");
    }
    for other in
        [json!({ "href": 1 }), json!({ "href": { "href": "x" } }), json!({}), json!(["x"]), json!(true)]
    {
        assert_eq!(leading(&other), None);
    }
}

proptest! {
    #[test]
    fn no_header_is_too_odd(text in "[ -~]{0,60}|(<[a-z]{0,3}>|; |rel=|\"|next|,|=){0,20}") {
        let found = found(&text);
        prop_assert!(found.is_none_or(|address| text.contains(&address) && address.len() <= MOST_VALUE_BYTES));
    }
}
