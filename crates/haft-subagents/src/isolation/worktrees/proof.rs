//! A patch is tried before it is given away: on the files that the child began with it has to make those that the child has.
//!
//! So a change that the text of a patch says in another way than it is, such as one of line ends, is told to be left out
//! instead of coming back as something else.

use super::super::patch::{FileChange, LeftOut, Patch, PatchFile};
use super::super::workplaces::WorkplaceError;
use super::git::{Purpose, Repository};
use super::layout::{make_directory, remove_tree};
use super::other;
use haft_core::CallId;
use haft_tool_fs::ApplyPatch;
use haft_tools_core::{CallContext, CallScope, Prepared, Tool as _};
use haft_workdir::{Existing, Workdir};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

const NOT_EXACT: &str = "since a patch cannot say exactly this, as with line ends and odd names";
const TOGETHER: &str = "since the changes cannot be made in one step";
const TOO_LARGE: &str = "since the files that were changed are too large together";

/// How often it is tried which changes fit together, at most: what was not tried by then is left out, and what fits stays.
const MOST_TRIED: usize = 256;

/// The name of an object, and whether the file may be executed.
type Blob = (String, bool);

/// What is in the files, by the names of their objects.
type Contents = HashMap<String, Vec<u8>>;

/// Is a change that may be carried.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) file: PatchFile,
    /// Its section of the patch.
    pub(super) text: String,
    pub(super) before: Option<Blob>,
    pub(super) after: Option<Blob>,
}

/// Is where and with what patches are tried.
#[derive(Debug)]
pub(super) struct Proof<'a> {
    pub(super) repository: &'a Repository,
    pub(super) directory: PathBuf,
    /// How much the files have together, before and afterwards, all of which is in memory.
    pub(super) most_bytes: usize,
}

impl Proof<'_> {
    /// Makes a patch of all that comes out as it should, and says what does not.
    pub(super) async fn of(
        &self,
        candidates: Vec<Candidate>,
    ) -> Result<(Patch, Vec<LeftOut>), WorkplaceError> {
        let sizes = self.sizes(&candidates).await?;
        let mut left_out: BTreeMap<usize, &str> = BTreeMap::new();
        let small = self.small(&candidates, &sizes, &mut left_out);
        let contents = self.contents(small.iter().flat_map(|place| candidates[*place].objects())).await?;
        let trial = Trial { directory: self.directory.clone(), candidates, contents };
        let trial = Arc::new(trial);
        let proven = if trial.is_exact(&small, &small).await? {
            small
        } else {
            self.fitting(&trial, &small, &mut left_out).await?
        };
        remove_tree(&self.directory)?;
        let candidates = &trial.candidates;
        let text: String = proven.iter().map(|place| candidates[*place].text.as_str()).collect();
        let files = proven.iter().map(|place| candidates[*place].file.clone()).collect();
        let left_out = left_out.into_iter();
        let left_out = left_out.map(|(place, why)| LeftOut::new(candidates[place].file.path.clone(), why));
        Ok((Patch::new(text, files), left_out.collect()))
    }

    /// Finds as many changes as fit together: first those that come out as they should by themselves, then of these all that can
    /// be made in one step. What does not fit is found by halves, so that a few among many cost little.
    async fn fitting(
        &self,
        trial: &Arc<Trial>,
        all: &[usize],
        left_out: &mut BTreeMap<usize, &str>,
    ) -> Result<Vec<usize>, WorkplaceError> {
        let mut exact: Vec<Vec<usize>> = Vec::new();
        let mut untried = halves(all);
        while let Some(group) = untried.pop() {
            match group.as_slice() {
                group if trial.is_exact(group, group).await? => exact.push(group.to_vec()),
                [single] => _ = left_out.insert(*single, NOT_EXACT),
                group => untried.extend(halves(group)),
            }
        }
        exact.reverse();
        let (mut fitting, mut tried) = (Vec::new(), 0);
        while let Some(group) = exact.pop() {
            let with: Vec<usize> = fitting.iter().chain(&group).copied().collect();
            tried += 1;
            match group.as_slice() {
                group if tried > MOST_TRIED => left_out.extend(group.iter().map(|place| (*place, TOGETHER))),
                // Beside them is what the others change, as it was: where it stays it can be in the way.
                _ if trial.is_exact(&with, all).await? => fitting = with,
                [single] => _ = left_out.insert(*single, TOGETHER),
                group => exact.extend(halves(group)),
            }
        }
        Ok(fitting)
    }

    /// Takes changes in their order until their files are too large together; says what is left out for it.
    fn small(
        &self,
        candidates: &[Candidate],
        sizes: &HashMap<String, usize>,
        left_out: &mut BTreeMap<usize, &str>,
    ) -> Vec<usize> {
        let (mut taken, mut bytes) = (Vec::new(), 0_usize);
        for (place, candidate) in candidates.iter().enumerate() {
            let size = candidate.objects().filter_map(|name| sizes.get(name)).sum::<usize>();
            if bytes.saturating_add(size) > self.most_bytes {
                left_out.insert(place, TOO_LARGE);
            } else {
                bytes += size;
                taken.push(place);
            }
        }
        taken
    }

    /// Asks how large the files are before and afterwards.
    async fn sizes(&self, candidates: &[Candidate]) -> Result<HashMap<String, usize>, WorkplaceError> {
        let names = distinct(candidates.iter().flat_map(Candidate::objects));
        let most_bytes = names.len().saturating_mul(SIZE_BYTES);
        let purpose = Purpose { action: "measure the files", what: "bytes of changed files", most_bytes };
        let format = ["cat-file", "--batch-check=%(objectsize)"];
        let told = self.repository.run(&format, names.join("\n").as_bytes(), purpose).await?;
        let told = str::from_utf8(&told).unwrap_or_default().lines();
        let sizes = names.iter().zip(told).map(|(name, size)| Some(((*name).to_owned(), size.parse().ok()?)));
        sizes.collect::<Option<HashMap<_, _>>>().filter(|sizes| sizes.len() == names.len()).ok_or_else(broken)
    }

    /// Reads what is in files.
    async fn contents<'b>(&self, names: impl Iterator<Item = &'b str>) -> Result<Contents, WorkplaceError> {
        let names = distinct(names);
        let most_bytes = names.len().saturating_mul(SIZE_BYTES).saturating_add(self.most_bytes);
        let purpose = Purpose { action: "read the files", what: "bytes of changed files", most_bytes };
        let input = names.join("\n");
        let told = self.repository.run(&["cat-file", "--batch"], input.as_bytes(), purpose).await?;
        let mut contents = HashMap::with_capacity(names.len());
        let mut rest = told.as_slice();
        for name in names {
            let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(broken)?;
            let head = str::from_utf8(&rest[..end]).unwrap_or_default();
            let size =
                head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok()).ok_or_else(broken)?;
            let content = rest.get(end + 1..end + 1 + size).ok_or_else(broken)?;
            contents.insert(name.to_owned(), content.to_vec());
            rest = rest.get(end + 2 + size..).ok_or_else(broken)?;
        }
        Ok(contents)
    }
}

impl Candidate {
    /// The names of the objects that it is about.
    fn objects(&self) -> impl Iterator<Item = &str> {
        [&self.before, &self.after].into_iter().flatten().map(|(name, _)| name.as_str())
    }
}

/// How many bytes are said of a file beside what is in it: its name, kind and size.
const SIZE_BYTES: usize = 128;

fn broken() -> WorkplaceError {
    WorkplaceError::Git { action: "read the files", stderr: "an object is missing".to_owned() }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let names: BTreeSet<&str> = names.collect();
    names.into_iter().collect()
}

fn halves(group: &[usize]) -> Vec<Vec<usize>> {
    let (first, second) = group.split_at(group.len() / 2);
    [second, first].into_iter().filter(|half| !half.is_empty()).map(<[usize]>::to_vec).collect()
}

/// Holds what patches are tried with; it is written and read where that blocks nobody.
struct Trial {
    directory: PathBuf,
    candidates: Vec<Candidate>,
    contents: Contents,
}

impl Trial {
    /// Tells whether these changes, made in one call where the files of those others are, are what they should be.
    async fn is_exact(self: &Arc<Self>, places: &[usize], others: &[usize]) -> Result<bool, WorkplaceError> {
        if places.is_empty() {
            return Ok(true);
        }
        let scope = match ("proof".parse::<CallId>(), "proof".parse()) {
            (Ok(call), Ok(run)) => (call, CallScope::new(run)),
            _ => return Ok(false),
        };
        let (trial, tried) = (Arc::clone(self), scope.1.clone());
        let (places, others) = (places.to_vec(), others.to_vec());
        let begun = blocking(move || {
            let begun = trial.begin(&places, &others, &tried)?;
            Ok((begun, places))
        });
        let (Some((workdir, prepared)), places) = begun.await? else { return Ok(false) };
        let (call, scope) = scope;
        if prepared.run(CallContext::detached(call, scope)).await.is_err() {
            return Ok(false);
        }
        let trial = Arc::clone(self);
        blocking(move || {
            let mut candidates = places.iter().map(|place| &trial.candidates[*place]);
            Ok(candidates.all(|candidate| is_as(&workdir, candidate, &trial.contents)))
        })
        .await
    }

    /// Puts the files there as they were, and prepares to change them; nothing where that cannot be done.
    fn begin(
        &self,
        places: &[usize],
        others: &[usize],
        scope: &CallScope,
    ) -> Result<Option<(Workdir, Prepared)>, WorkplaceError> {
        remove_tree(&self.directory)?;
        make_directory(&self.directory)?;
        let workdir = Workdir::open(&self.directory).map_err(|error| other("try the patch", error))?;
        for place in others {
            let candidate = &self.candidates[*place];
            let from = match &candidate.file.change {
                FileChange::Renamed { from } => from,
                _ => &candidate.file.path,
            };
            if let Some((blob, is_executable)) = &candidate.before
                && !put(&workdir, from, self.contents.get(blob), *is_executable)
                && places.contains(place)
            {
                return Ok(None);
            }
        }
        let text: String = places.iter().map(|place| self.candidates[*place].text.as_str()).collect();
        let prepared = ApplyPatch::new(workdir.clone()).prepare(&json!({ "patch": text }), scope);
        Ok(prepared.ok().map(|prepared| (workdir, prepared)))
    }
}

/// Does what reads and writes files.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkplaceError> + Send + 'static,
) -> Result<T, WorkplaceError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| other("try the patch", error)).flatten()
}

/// Puts a file there; tells whether it could be, which it cannot where the name is none that a model could write.
fn put(workdir: &Workdir, path: &str, content: Option<&Vec<u8>>, is_executable: bool) -> bool {
    let (Ok(path), Some(content)) = (workdir.resolve(path), content) else { return false };
    path.parent().is_none_or(|parent| workdir.create_dir_all(&parent).is_ok())
        && workdir.write_atomic(&path, content, Existing::Refuse).is_ok()
        && workdir.set_executable(&path, is_executable).is_ok()
}

fn is_as(workdir: &Workdir, candidate: &Candidate, contents: &Contents) -> bool {
    let path = &candidate.file.path;
    // Spelt in another way it would be another file in the parent's place, too.
    let Ok(place) = workdir.resolve(path) else { return false };
    if place.as_str() != path {
        return false;
    }
    match &candidate.after {
        None => workdir.metadata(&place).is_err(),
        Some((blob, is_executable)) => {
            let Some(content) = contents.get(blob) else { return false };
            let is_same = workdir.read(&place, content.len() as u64).is_ok_and(|found| found == *content);
            is_same
                && workdir.metadata(&place).is_ok_and(|metadata| metadata.is_executable() == *is_executable)
        }
    }
}
