use super::Store;
use crate::fetch::{blocking, shown, text};
use crate::problem::Problems;
use crate::read::{Read, read_file};
use crate::{LoadOptions, OpenApiProblem};
use haft_http::HttpClient;
use std::collections::{HashMap, VecDeque};
use std::error::Error as _;
use tokio::time::{Instant, timeout_at};
use url::Url;

/// The most files that one document may be made of where each of them is asked for.
const MOST_FILES: usize = 200;

/// The most that is said of them.
const MOST_PROBLEMS: usize = 1_000;

/// Is a file whose references are still to be looked at.
struct Open {
    file: usize,
    url: Url,
    outward: Vec<String>,
}

/// Reads the files of the document's origin that it refers to, and those that these refer to, one after the other.
///
/// What cannot be read until then is said and left out: only what needs it suffers.
pub(crate) async fn load_same_origin(
    store: &mut Store,
    document: &Url,
    outward: Vec<String>,
    (client, options): (&HttpClient, &LoadOptions),
    until: Instant,
) -> Vec<OpenApiProblem> {
    let mut problems = Problems::new(MOST_PROBLEMS);
    // What refers back to the document does not say the query that it was asked with.
    let mut plain = document.clone();
    plain.set_query(None);
    // Those that cannot be read are known, too, and not asked for again.
    let mut known: HashMap<Url, Option<usize>> =
        HashMap::from([(document.clone(), Some(0)), (plain, Some(0))]);
    let (mut bytes_left, mut nodes_left) = (options.most_bytes, options.most_nodes);
    let mut open = VecDeque::from([Open { file: 0, url: document.clone(), outward }]);
    while let Some(Open { file, url, outward }) = open.pop_front() {
        for reference in outward {
            let told = |store: &Store, why: &str| {
                OpenApiProblem::note(store.place(file, ""), format!("`{reference}` {why}"))
            };
            let Some(target) =
                url.join(&reference).ok().filter(|target| target.origin() == document.origin())
            else {
                problems.push(told(store, "is on another origin; it is not read"));
                continue;
            };
            if let Some(&to) = known.get(&target) {
                if let Some(to) = to {
                    store.link(file, reference, to);
                }
                continue;
            }
            if known.len() > MOST_FILES {
                problems.push(told(store, &format!("is not read: there are more than {MOST_FILES} files")));
                continue;
            }
            known.insert(target.clone(), None);
            let asked = async {
                // What is asked for too late would be connected to all the same.
                if Instant::now() < until {
                    timeout_at(until, text(&target, client, bytes_left)).await.ok()
                } else {
                    None
                }
            };
            let Some(text) = asked.await else {
                problems.push(told(store, "is not read: all the files together take too long"));
                continue;
            };
            let (length, read) = match text {
                Ok(text) => {
                    let length = text.len();
                    (length, blocking(move || read_file(&text, bytes_left, nodes_left)).await)
                }
                Err(error) => (0, Err(error)),
            };
            bytes_left -= length.min(bytes_left);
            match read {
                Ok(Read { value, outward, nodes, bytes, .. }) => {
                    bytes_left -= bytes.saturating_sub(length).min(bytes_left);
                    nodes_left -= nodes.min(nodes_left);
                    let to = store.add(shown(&target), value);
                    store.link(file, reference, to);
                    known.insert(target.clone(), Some(to));
                    open.push_back(Open { file: to, url: target, outward });
                }
                Err(error) => {
                    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                    problems.push(told(store, &format!("cannot be used: {error}{cause}")));
                }
            }
        }
    }
    problems.done()
}
