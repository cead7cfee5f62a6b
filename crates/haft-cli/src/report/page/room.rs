//! How much of a large run its page holds: all calls, and of what they are about as much as there is room for.

use super::escaped;
use haft::core::RunId;
use serde_json::{Value, json};

/// The most bytes of one text.
pub(super) const MOST_TEXT: usize = 64 * 1024;
/// The most bytes of all that calls are about, as they stand in the page.
pub(super) const MOST_ALL: usize = 16 * 1024 * 1024;
/// The least that is left of a text where there are many.
pub(super) const LEAST_TEXT: usize = 1024;

/// The same for what runs were asked to do and said.
pub(super) const MOST_OF_RUNS: usize = 4 * 1024 * 1024;
pub(super) const LEAST_OF_RUN: usize = 256;

/// How much of a name, or of why a call was decided so, every call has.
const MOST_NAME: usize = 256;

/// What a call was about, beside what every call has: who made it, when, how it ended, and who decided.
const ABOUT: [&str; 7] = ["accesses", "diff", "digest", "input", "output", "repairs", "truncation"];

/// What names a call and what it started; each has its own bounds.
const IDS: [&str; 2] = ["child_run", "id"];

/// Finds how long a text may be so that all of them have room, but no shorter than it is of use.
pub(super) fn room(lengths: &(impl Iterator<Item = usize> + Clone), most: usize, least: usize) -> usize {
    let mut room = MOST_TEXT;
    while room > least && lengths.clone().map(|length| length.min(room)).sum::<usize>() > most {
        room /= 2;
    }
    room
}

/// Leaves out what calls are about where there is no room for all of it, and says so.
///
/// It stays of calls that failed, were asked about, changed files or are not answered, and then of the latest.
pub(super) fn fit(page: &mut Value, run: &RunId) {
    let empty = &mut Vec::new();
    let calls = page["calls"].as_array_mut().unwrap_or(empty);
    let sizes: Vec<usize> = calls.iter().map(size).collect();
    if sizes.iter().sum::<usize>() <= MOST_ALL {
        return;
    }
    let mut order: Vec<usize> = (0..calls.len()).rev().collect();
    order.sort_by_key(|place| !is_of_note(&calls[*place]));
    let (mut left, mut without, mut bytes) = (MOST_ALL, 0, 0);
    for place in order {
        if sizes[place] <= left {
            left -= sizes[place];
        } else {
            without += 1;
            bytes += sizes[place];
            leave_out(&mut calls[place], sizes[place]);
        }
    }
    let note = format!(
        "This run is large: what {without} of its {} calls are about is not in this page: their arguments, accesses, diffs and \
         outputs, which have {} MiB. It has those of calls that failed, were asked about or changed files, and then of the \
         latest. `haft report {run} --call ID` makes a page of one of the others, and `--json` has all.",
        calls.len(),
        bytes.div_ceil(1024 * 1024),
    );
    if let Some(notes) = page["notes"].as_array_mut() {
        notes.insert(0, json!(note));
    }
}

/// What a call is about takes so many bytes in the page.
fn size(call: &Value) -> usize {
    let parts = ABOUT.iter().filter_map(|name| Some((name.len() + 4, call.get(name)?)));
    parts.map(|(name, value)| name + escaped(&value.to_string()).len()).sum()
}

fn is_of_note(call: &Value) -> bool {
    call["status"] != "ok" || call["asked"] == true || call.get("diff").is_some()
}

fn leave_out(call: &mut Value, size: usize) {
    let Value::Object(call) = call else { return };
    for name in ABOUT {
        call.remove(name);
    }
    call.insert("left_out".to_owned(), json!(size));
    // It is another one for each call.
    if let Some(Value::Object(decided)) = call.get_mut("decided") {
        decided.remove("access");
    }
    // By its id the call is asked for, and by that of its run another is found.
    call.iter_mut().filter(|(name, _)| !IDS.contains(&name.as_str())).for_each(|(_, value)| shorten(value));
}

/// Cuts every text to the length of a name.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MOST_NAME => {
            text.truncate(text.floor_char_boundary(MOST_NAME));
            text.push('…');
        }
        Value::Array(values) => {
            values.truncate(8);
            values.iter_mut().for_each(shorten);
        }
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::leave_out;
    use serde_json::json;

    #[test]
    fn what_a_call_is_asked_for_by_is_not_cut_where_the_rest_of_it_is() {
        let long = "c".repeat(400);
        let mut call = json!({ "id": long, "child_run": long, "called_as": long, "input": { "path": "a" } });
        leave_out(&mut call, 7);
        let cut = format!("{}…", "c".repeat(256));
        assert_eq!(call, json!({ "id": long, "child_run": long, "called_as": cut, "left_out": 7 }));
    }
}
