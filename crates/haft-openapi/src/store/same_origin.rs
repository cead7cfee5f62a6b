use super::Store;
use crate::fetch::{blocking, shown, text};
use crate::read::{Read, read};
use crate::{LoadOptions, Problem};
use haft_http::HttpClient;
use std::collections::{HashMap, VecDeque};
use std::error::Error as _;
use url::Url;

/// The most files that one document may be made of where each of them is asked for.
const MOST_FILES: usize = 200;

/// Is a file whose references are still to be looked at.
struct Open {
    file: usize,
    url: Url,
    outward: Vec<String>,
}

/// Reads the files of the document's origin that it refers to, and those that these refer to, one after the other.
///
/// What cannot be read is said and left out: only what needs it suffers.
pub(crate) async fn load_same_origin(
    store: &mut Store,
    document: &Url,
    outward: Vec<String>,
    client: &HttpClient,
    options: &LoadOptions,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    // What refers back to the document does not say the query that it was asked with.
    let mut plain = document.clone();
    plain.set_query(None);
    let mut known: HashMap<Url, usize> = HashMap::from([(document.clone(), 0), (plain, 0)]);
    let mut bytes_left = options.most_bytes;
    let mut open = VecDeque::from([Open { file: 0, url: document.clone(), outward }]);
    while let Some(Open { file, url, outward }) = open.pop_front() {
        for reference in outward {
            let told = |store: &Store, why: &str| {
                Problem::note(store.place(file, ""), format!("`{reference}` {why}"))
            };
            let Some(target) =
                url.join(&reference).ok().filter(|target| target.origin() == document.origin())
            else {
                problems.push(told(store, "is on another origin; it is not read"));
                continue;
            };
            if let Some(&to) = known.get(&target) {
                store.link(file, reference, to);
                continue;
            }
            if known.len() > MOST_FILES {
                problems.push(told(store, &format!("is not read: there are more than {MOST_FILES} files")));
                continue;
            }
            let (most_bytes, most_nodes) = (options.most_bytes, options.most_nodes);
            let text = text(&target, client, bytes_left).await;
            let read = match text {
                Ok(text) => {
                    bytes_left -= text.len().min(bytes_left);
                    blocking(move || read(&text, most_bytes, most_nodes)).await
                }
                Err(error) => Err(error),
            };
            match read {
                Ok(Read { value, outward, .. }) => {
                    let to = store.add(shown(&target), value);
                    store.link(file, reference, to);
                    known.insert(target.clone(), to);
                    open.push_back(Open { file: to, url: target, outward });
                }
                Err(error) => {
                    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                    problems.push(told(store, &format!("cannot be used: {error}{cause}")));
                }
            }
        }
    }
    problems
}
