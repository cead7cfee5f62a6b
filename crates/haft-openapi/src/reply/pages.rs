//! How to go on where a reply is one page of several.

use super::Asked;
use crate::plan::{Place, Plan, Shape};
use http::HeaderMap;
use http::header::LINK;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use url::Url;

/// The most bytes of a value that leads on.
const MOST_VALUE_BYTES: usize = 2 << 10;

/// The most bytes of the name of a member that says how to go on.
const MOST_NAME_BYTES: usize = 40;

/// The members of a reply that may hold what leads on, besides the reply itself.
const HOLDERS: [&str; 14] = [
    "meta",
    "metadata",
    "pagination",
    "paging",
    "page",
    "pageinfo",
    "pageinformation",
    "responsemetadata",
    "links",
    "cursors",
    "cursor",
    "nextpage",
    "paginationinfo",
    "listmetadata",
];

/// The members that lead on, each with the parameters that may take their value; compared without case and marks.
const LEADS: [(&str, &[&str]); 16] = [
    ("nextpagetoken", &["pagetoken", "nextpagetoken", "token"]),
    (
        "nextcursor",
        &["cursor", "nextcursor", "pagecursor", "startcursor", "after", "startingafter", "pagetoken"],
    ),
    ("nexttoken", &["nexttoken", "token", "pagetoken", "continuationtoken"]),
    ("nextpage", &["page", "pagenumber", "nextpage", "p", "cursor"]),
    ("nextlink", &[]),
    ("odatanextlink", &[]),
    ("next", &["cursor", "next", "page", "after", "start", "offset", "pagetoken"]),
    ("nextoffset", &["offset", "start", "skip"]),
    ("nextmarker", &["marker", "nextmarker"]),
    ("nexturl", &[]),
    ("nextpageurl", &[]),
    ("endcursor", &["after", "cursor", "startcursor"]),
    ("after", &["after", "cursor", "startingafter"]),
    ("continuationtoken", &["continuationtoken", "token", "continuation"]),
    ("continuation", &["continuation", "continuationtoken"]),
    ("cursor", &["cursor", "after"]),
];

/// The members that say only that there is more.
const MORE: [&str; 5] = ["hasmore", "hasnextpage", "hasnext", "moreresults", "istruncated"];

/// Says how to go on, in arguments of the operation where they are known.
pub(super) fn hint(asked: &Asked<'_>, headers: &HeaderMap, reply: Option<&Value>) -> Option<String> {
    let plan = asked.tool.operation.plan()?;
    let arguments = Arguments { plan, url: asked.url };
    let lead = link(headers).map(Lead::Address).or_else(|| lead(reply?.as_object()?, &arguments))?;
    let name = &asked.tool.name;
    let text = match lead {
        Lead::Argument(key, value) => again(name.as_str(), &[(key, value)]),
        Lead::Address(address) => {
            let next = asked.url.join(&address).ok()?;
            let leading = arguments.differing(&next);
            if leading.is_empty() {
                let address = super::Visible::line(next.as_str()).to_string();
                format!("[there is more, at {address}; no argument of `{name}` leads there]")
            } else {
                again(name.as_str(), &leading)
            }
        }
        Lead::Unmatched(member, value) => {
            format!(
                "[there is more: the reply has `{member}` {value}, and no argument of `{name}` is plainly for it]"
            )
        }
        Lead::More(member) => {
            let steps: Vec<String> = arguments.stepping().map(|key| format!("`{key}`")).collect();
            if steps.is_empty() {
                format!("[there is more: the reply says `{member}`]")
            } else {
                let steps = steps.join(" or ");
                format!(
                    "[there is more: the reply says `{member}`; to go on, call `{name}` again with another {steps}]"
                )
            }
        }
    };
    Some(text)
}

enum Lead {
    /// An argument and its value.
    Argument(String, Value),
    Address(String),
    /// A member of the reply, and its value, that no argument is for.
    Unmatched(String, Value),
    /// A member of the reply that says that there is more.
    More(String),
}

fn again(name: &str, arguments: &[(String, Value)]) -> String {
    let arguments: Map<String, Value> = arguments.iter().cloned().collect();
    format!(
        "[there is more; to go on, call `{name}` again with the same arguments and {}]",
        Value::Object(arguments)
    )
}

/// Finds the address of the next page among the links of an answer (RFC 8288).
fn link(headers: &HeaderMap) -> Option<String> {
    headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok()).find_map(|value| {
        let mut rest = value;
        while let Some((_, from)) = rest.split_once('<') {
            let (address, after) = from.split_once('>')?;
            let end = end_of_link(after);
            if parameters(&after[..end]).any(|rel| rel.eq_ignore_ascii_case("next"))
                && address.len() <= MOST_VALUE_BYTES
            {
                return Some(address.to_owned());
            }
            rest = &after[end..];
        }
        None
    })
}

/// Where a link ends: at a comma that is not within quotes.
fn end_of_link(text: &str) -> usize {
    let mut is_quoted = false;
    let end = text.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b',' && !is_quoted
    });
    end.unwrap_or(text.len())
}

/// The relations that the parameters of a link name.
fn parameters(text: &str) -> impl Iterator<Item = &str> {
    let values = text.split(';').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("rel").then(|| value.trim().trim_matches('"'))
    });
    values.flat_map(str::split_ascii_whitespace)
}

/// Finds what leads on in a reply.
fn lead(reply: &Map<String, Value>, arguments: &Arguments<'_>) -> Option<Lead> {
    let members = telling(reply);
    let says = |value: bool| members.iter().find(|told| MORE.contains(&&*told.plain) && *told.value == value);
    if says(false).is_some() {
        return None;
    }
    let mut unmatched = None;
    for (member, keys) in LEADS {
        // A reply can say the same in many spellings, and there can be many arguments to look through.
        let argument = OnceCell::new();
        for told in members.iter().filter(|told| told.plain == member) {
            let Some(value) = leading(told.value) else { continue };
            if let Value::String(text) = value
                && (text.starts_with("http://")
                    || text.starts_with("https://")
                    || text.starts_with(['/', '?']))
            {
                return Some(Lead::Address(text.clone()));
            }
            match argument.get_or_init(|| arguments.named(keys)) {
                Some(key) => return Some(Lead::Argument(key.clone(), value.clone())),
                // Much is called so that leads nowhere.
                None if member.starts_with("next") && member != "next" && unmatched.is_none() => {
                    unmatched = Some(Lead::Unmatched(told.name.to_owned(), value.clone()));
                }
                None => {}
            }
        }
    }
    unmatched.or_else(|| {
        let more = says(true)?;
        Some(arguments.after_last(reply).unwrap_or_else(|| Lead::More(more.name.to_owned())))
    })
}

/// Is a member of a reply that may say how to go on.
struct Telling<'a> {
    plain: String,
    name: &'a str,
    value: &'a Value,
}

/// Collects the members that may say how to go on: those of the reply come first, then those of what stands in it for that.
fn telling(reply: &Map<String, Value>) -> Vec<Telling<'_>> {
    let mut members = Vec::new();
    let mut holders = vec![reply];
    // One step further there are the cursors of some.
    for _ in 0..=2 {
        let mut further = Vec::new();
        for (name, value) in holders.into_iter().flatten() {
            if name.len() > MOST_NAME_BYTES {
                continue;
            }
            let plain = plain(name);
            if let (true, Value::Object(holder)) = (HOLDERS.contains(&plain.as_str()), value) {
                further.push(holder);
            }
            if MORE.contains(&plain.as_str()) || LEADS.iter().any(|(member, _)| *member == plain) {
                members.push(Telling { plain, name, value });
            }
        }
        holders = further;
    }
    members
}

/// The value of a member if it leads anywhere; that of `href` where it is an object.
fn leading(value: &Value) -> Option<&Value> {
    match value {
        Value::String(text) => (!text.is_empty() && text.len() <= MOST_VALUE_BYTES).then_some(value),
        Value::Number(_) => Some(value),
        Value::Object(members) => members.get("href").filter(|href| href.is_string()).and_then(leading),
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
}

/// Knows the arguments of an operation that may say which page is wanted.
struct Arguments<'a> {
    plan: &'a Plan,
    url: &'a Url,
}

impl Arguments<'_> {
    /// The keys of arguments, and what they are called in the API.
    fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let parameters = self.plan.parameters.iter().filter(|parameter| parameter.place == Place::Query);
        let parameters = parameters.map(|parameter| (parameter.key.as_str(), parameter.name.as_str()));
        let flat = match self.plan.body.as_ref().map(|body| &body.shape) {
            Some(Shape::Flat(properties)) => &properties[..],
            Some(Shape::Whole(_)) | None => &[],
        };
        parameters.chain(flat.iter().map(|property| (property.key.as_str(), property.name.as_str())))
    }

    /// The first of these that there is an argument of.
    fn named(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|wanted| {
            self.all().find(|(_, name)| plain(name) == *wanted).map(|(key, _)| key.to_owned())
        })
    }

    /// Those with which an address differs from the one that was asked.
    fn differing(&self, next: &Url) -> Vec<(String, Value)> {
        let sent =
            |name: &str, value: &str| self.url.query_pairs().any(|(key, sent)| key == name && sent == value);
        let pairs = next.query_pairs().filter(|(name, value)| !sent(name, value));
        let arguments = pairs.filter_map(|(name, value)| {
            let parameter = self
                .plan
                .parameters
                .iter()
                .find(|parameter| parameter.place == Place::Query && parameter.name == name)?;
            // What is written otherwise than a number is, such as `007`, is none.
            let number = value.parse::<u64>().ok().filter(|number| number.to_string() == value);
            let value = number.map_or_else(|| value.as_ref().into(), Value::from);
            Some((parameter.key.clone(), value))
        });
        arguments.collect()
    }

    /// Those that count pages or items.
    fn stepping(&self) -> impl Iterator<Item = &str> {
        const STEPS: [&str; 8] =
            ["cursor", "page", "pagenumber", "offset", "skip", "start", "after", "startingafter"];
        self.all().filter(|(_, name)| STEPS.contains(&plain(name).as_str())).map(|(key, _)| key)
    }

    /// Goes on after the last item, as Stripe does.
    fn after_last(&self, reply: &Map<String, Value>) -> Option<Lead> {
        let key = self.named(&["startingafter"])?;
        let last = reply.get("data")?.as_array()?.last()?.get("id")?;
        Some(Lead::Argument(key, leading(last)?.clone()))
    }
}

/// A name without case and marks, so that `next_page_token` is `nextPageToken`.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|character| character.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
