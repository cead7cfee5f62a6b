//! A patch is tried before it is given away: on the files that the child began with it has to make those that the child has.
//!
//! So a change that the text of a patch says in another way than it is, such as one of line ends, is told to be left out
//! instead of coming back as something else.

use super::super::patch::{FileChange, LeftOut, Patch, PatchFile};
use super::super::workplaces::WorkplaceError;
use super::git::{Purpose, Repository};
use super::layout::{make_directory, remove_tree};
use haft_core::CallId;
use haft_tool_fs::ApplyPatch;
use haft_tools_core::{CallContext, CallScope, Tool as _};
use haft_workdir::{Existing, Workdir};
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;

const NOT_EXACT: &str = "since a patch cannot say exactly this, as with line ends and odd names";
/// How many changes that do not fit together are tried one by one.
const MOST_TRIED: usize = 64;

const TOGETHER: &str = "since the changes cannot be made in one step";

/// The name of an object, and whether the file may be executed.
type Blob = (String, bool);

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
    pub(super) most_bytes: u64,
}

impl Proof<'_> {
    /// Makes a patch of all that comes out as it should, and says what does not.
    pub(super) async fn of(
        &self,
        candidates: Vec<Candidate>,
    ) -> Result<(Patch, Vec<LeftOut>), WorkplaceError> {
        let contents = self.contents(&candidates).await?;
        let all: Vec<&Candidate> = candidates.iter().collect();
        let mut left_out = Vec::new();
        let mut proven = all.clone();
        if !self.is_exact(&all, &contents).await? {
            proven.clear();
            for candidate in all {
                if self.is_exact(&[candidate], &contents).await? {
                    proven.push(candidate);
                } else {
                    left_out.push(LeftOut::new(candidate.file.path.clone(), NOT_EXACT));
                }
            }
            if !self.is_exact(&proven, &contents).await? {
                let all = std::mem::take(&mut proven);
                let is_tried = all.len() <= MOST_TRIED;
                for candidate in all {
                    proven.push(candidate);
                    if !is_tried || !self.is_exact(&proven, &contents).await? {
                        proven.pop();
                        left_out.push(LeftOut::new(candidate.file.path.clone(), TOGETHER));
                    }
                }
            }
        }
        remove_tree(&self.directory)?;
        let text: String = proven.iter().map(|candidate| candidate.text.as_str()).collect();
        Ok((Patch::new(text, proven.iter().map(|candidate| candidate.file.clone()).collect()), left_out))
    }

    /// Reads what is in the files before and afterwards.
    async fn contents(&self, candidates: &[Candidate]) -> Result<HashMap<String, Vec<u8>>, WorkplaceError> {
        let blobs = candidates.iter().flat_map(|candidate| [&candidate.before, &candidate.after]).flatten();
        let mut names: Vec<&str> = blobs.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let input = names.join("\n");
        let most_bytes = usize::try_from(self.most_bytes).unwrap_or(usize::MAX);
        let purpose = Purpose { action: "read the files", what: "bytes of changed files", most_bytes };
        let told = self.repository.run(&["cat-file", "--batch"], input.as_bytes(), purpose).await?;
        let mut contents = HashMap::with_capacity(names.len());
        let mut rest = told.as_slice();
        let broken =
            || WorkplaceError::Git { action: "read the files", stderr: "an object is missing".to_owned() };
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

    /// Tells whether these changes, made in one call, are what they should be.
    async fn is_exact(
        &self,
        candidates: &[&Candidate],
        contents: &HashMap<String, Vec<u8>>,
    ) -> Result<bool, WorkplaceError> {
        if candidates.is_empty() {
            return Ok(true);
        }
        remove_tree(&self.directory)?;
        make_directory(&self.directory)?;
        let other = |source| WorkplaceError::Other { action: "try the patch", source };
        let workdir = Workdir::open(&self.directory).map_err(|error| other(Box::new(error)))?;
        for candidate in candidates {
            let from = match &candidate.file.change {
                FileChange::Renamed { from } => from,
                _ => &candidate.file.path,
            };
            if let Some((blob, is_executable)) = &candidate.before
                && !put(&workdir, from, contents.get(blob), *is_executable)
            {
                return Ok(false);
            }
        }
        let text: String = candidates.iter().map(|candidate| candidate.text.as_str()).collect();
        let (Ok(call), Ok(run)) = ("proof".parse::<CallId>(), "proof".parse()) else { return Ok(false) };
        let scope = CallScope::new(run);
        let Ok(prepared) = ApplyPatch::new(workdir.clone()).prepare(&json!({ "patch": text }), &scope) else {
            return Ok(false);
        };
        if prepared.run(CallContext::detached(call, scope)).await.is_err() {
            return Ok(false);
        }
        Ok(candidates.iter().all(|candidate| is_as(&workdir, candidate, contents)))
    }
}

/// Puts a file there; tells whether it could be, which it cannot where the name is none that a model could write.
fn put(workdir: &Workdir, path: &str, content: Option<&Vec<u8>>, is_executable: bool) -> bool {
    let (Ok(path), Some(content)) = (workdir.resolve(path), content) else { return false };
    path.parent().is_none_or(|parent| workdir.create_dir_all(&parent).is_ok())
        && workdir.write_atomic(&path, content, Existing::Refuse).is_ok()
        && workdir.set_executable(&path, is_executable).is_ok()
}

fn is_as(workdir: &Workdir, candidate: &Candidate, contents: &HashMap<String, Vec<u8>>) -> bool {
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
