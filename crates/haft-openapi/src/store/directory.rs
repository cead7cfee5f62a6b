use super::Store;
use crate::problem::Problems;
use crate::read::{Read, read_file};
use crate::{LoadOptions, OpenApiProblem};
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

/// The most files that one document may be made of.
const MOST_FILES: usize = 2_000;

/// The most references to files that are followed, of all files together.
const MOST_REFERENCES: usize = 100_000;

/// The most that is said of them.
const MOST_PROBLEMS: usize = 1_000;

/// Is a file whose references are still to be looked at.
struct Open {
    file: usize,
    folder: PathBuf,
    outward: Vec<String>,
}

/// Reads the files below a directory that a document refers to, and those that these refer to.
///
/// What cannot be read is said and left out: only what needs it suffers.
pub(crate) fn load_from(
    store: &mut Store,
    directory: &Path,
    folder: &Path,
    outward: Vec<String>,
    options: &LoadOptions,
) -> Vec<OpenApiProblem> {
    let mut problems = Problems::new(MOST_PROBLEMS);
    // The parent of a bare name is empty, and means the current directory.
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(root) = directory.canonicalize() else {
        problems
            .push(OpenApiProblem::note("", "the directory of references cannot be read; none is followed"));
        return problems.done();
    };
    // Those that cannot be read are known, too, and not tried again.
    let mut known: HashMap<PathBuf, Option<usize>> = HashMap::new();
    let mut references_left = MOST_REFERENCES;
    let (mut bytes_left, mut nodes_left) = (options.most_bytes, options.most_nodes);
    let mut open = VecDeque::from([Open { file: 0, folder: folder.to_path_buf(), outward }]);
    while let Some(Open { file, folder, outward }) = open.pop_front() {
        for reference in outward.into_iter().take(references_left) {
            references_left -= 1;
            let told =
                |why: String| OpenApiProblem::note(store.place(file, ""), format!("`{reference}` {why}"));
            let path = match inside(&root, &folder, &reference) {
                Ok(path) => path,
                Err(why) => {
                    problems.push(told(why.to_owned()));
                    continue;
                }
            };
            if let Some(&to) = known.get(&path) {
                if let Some(to) = to {
                    store.link(file, reference, to);
                }
                continue;
            }
            if known.len() >= MOST_FILES {
                problems.push(told(format!("is not read: there are more than {MOST_FILES} files")));
                continue;
            }
            known.insert(path.clone(), None);
            let text = match read_bounded(&path, bytes_left) {
                Ok(text) => text,
                Err(why) => {
                    problems.push(told(why.to_owned()));
                    continue;
                }
            };
            let read = read_file(&text, bytes_left, nodes_left);
            bytes_left -= text.len();
            let Read { value, outward, nodes, bytes, .. } = match read {
                Ok(read) => read,
                Err(error) => {
                    problems.push(told(format!("cannot be used: {error}")));
                    continue;
                }
            };
            nodes_left -= nodes.min(nodes_left);
            bytes_left -= bytes.saturating_sub(text.len()).min(bytes_left);
            let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
            let to = store.add(name, value);
            store.link(file, reference, to);
            let folder = path.parent().unwrap_or(&root).to_path_buf();
            known.insert(path, Some(to));
            open.push_back(Open { file: to, folder, outward });
        }
    }
    problems.done()
}

/// Finds the file that a reference names, if it really is below the root.
fn inside(root: &Path, folder: &Path, reference: &str) -> Result<PathBuf, &'static str> {
    if reference.contains("://") {
        return Err("is on another host; it is not read");
    }
    let path = folder.join(reference).canonicalize().map_err(|_| "cannot be found")?;
    if path.starts_with(root) { Ok(path) } else { Err("is outside the directory of references") }
}

fn read_bounded(path: &Path, most: usize) -> Result<String, &'static str> {
    use std::io::Read as _;
    let unreadable = |_| "cannot be read";
    // To open a pipe would wait for somebody to write to it.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is not a file");
    }
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take((most as u64).saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > most {
        return Err("is not read: the files are too large together");
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8")
}
