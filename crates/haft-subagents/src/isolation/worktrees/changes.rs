//! What a child changed: the tree that its place holds now, beside the one that it began with.

use super::super::patch::{FileChange, LeftOut, Patch, PatchFile};
use super::super::workplaces::WorkplaceError;
use super::git::{Purpose, Repository};
use super::layout::{Layout, Ready};
use super::proof::{Candidate, Proof};
use super::snapshot::{add, leave_out_repositories, line, measure};
use super::{PlaceLimits, listed, listing, shown, staged};
use std::collections::HashMap;

const BINARY: &str = "since it is not text";
const LINK: &str = "since it is a symbolic link";
const NAMELESS: &str = "since its name is not UTF-8";
const REPOSITORY: &str = "since it is a git repository of its own";
const OUTSIDE: &str = "since it is outside of the working directory";

/// How many bytes the files that a patch is about may have, before and afterwards, for each that the patch may have.
const PROVEN_FOR_EACH: usize = 16;

/// Works out the patch of a place.
pub(super) async fn changes(
    repository: &Repository,
    layout: &Layout,
    ready: &Ready,
    limits: &PlaceLimits,
) -> Result<Patch, WorkplaceError> {
    start_over(repository, ready, limits).await?;
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z"];
    let names = repository.run(&arguments, &[], listing(limits)).await?;
    measure(&layout.tree(), names, limits).await?;
    add(repository, &[]).await?;
    let repositories = leave_out_repositories(repository, staged(limits)).await?;
    let now =
        line(&repository.run(&["write-tree", "--missing-ok"], &[], Purpose::to("write the files")).await?);
    let mut left_out: Vec<LeftOut> =
        repositories.iter().map(|path| LeftOut::new(shown(path), REPOSITORY)).collect();
    if now == ready.base {
        return Ok(Patch::default().left_out(left_out));
    }
    left_out.extend(outside(repository, ready, &now, limits).await?);
    let changed = changed(repository, ready, &now, limits).await?;
    let sections = sections(repository, ready, &now, limits).await?;
    let mut candidates = Vec::new();
    let mut sections = sections.into_iter();
    for changed in changed {
        let section = sections.next().unwrap_or_default();
        if changed.is_of_another_kind {
            // Git writes this as a removal and an addition.
            sections.next();
        }
        match changed.into_candidate(section) {
            Ok(candidate) => candidates.push(candidate),
            Err(refused) => left_out.push(refused),
        }
    }
    let most_bytes = limits.patch_bytes.saturating_mul(PROVEN_FOR_EACH);
    let (patch, unproven) =
        Proof { repository, directory: layout.proof(), most_bytes }.of(candidates).await?;
    left_out.extend(unproven);
    Ok(patch.left_out(left_out))
}

/// Sets the index to what the child began with, whatever was in it: what broke off before may have left there a repository of
/// the child's, which git would run itself in to see how it stands, under the settings that the child gave it.
async fn start_over(
    repository: &Repository,
    ready: &Ready,
    limits: &PlaceLimits,
) -> Result<(), WorkplaceError> {
    // What is known of files that are as they were is kept; `-i` has it look at none of them.
    let purpose = Purpose::to("start over from what it began with");
    repository.run(&["read-tree", "--reset", "-i", &ready.base], &[], purpose).await?;
    leave_out_repositories(repository, staged(limits)).await.map(drop)
}

/// One entry of the list of what differs.
#[derive(Debug, Default)]
struct Changed {
    modes: (Vec<u8>, Vec<u8>),
    objects: (String, String),
    status: u8,
    is_of_another_kind: bool,
    from: Vec<u8>,
    to: Vec<u8>,
    /// Lines added and removed; nothing where it is not text.
    counts: Option<(u64, u64)>,
}

/// Lists what differs, in the order in which the sections of the patch are.
async fn changed(
    repository: &Repository,
    ready: &Ready,
    now: &str,
    limits: &PlaceLimits,
) -> Result<Vec<Changed>, WorkplaceError> {
    let relative = relative(ready);
    let mut arguments = vec!["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--find-renames"];
    arguments.extend(["--no-ext-diff", "--no-textconv", "--ignore-submodules=none"]);
    arguments.extend(relative.as_deref());
    arguments.extend([ready.base.as_str(), now]);
    let told = repository.run(&arguments, &[], listing(limits)).await?;
    let mut changed: Vec<Changed> = Vec::new();
    let mut by_path: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut fields = told.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        if let Some(raw) = field.strip_prefix(b":") {
            let mut parts = raw.split(|byte| *byte == b' ');
            let mut part = || parts.next().unwrap_or_default();
            let (old_mode, new_mode, old, new, status) = (part(), part(), part(), part(), part());
            let status = status.first().copied().unwrap_or_default();
            let from = fields.next().unwrap_or_default().to_vec();
            let to = if matches!(status, b'R' | b'C') {
                fields.next().unwrap_or_default().to_vec()
            } else {
                from.clone()
            };
            by_path.insert(to.clone(), changed.len());
            changed.push(Changed {
                modes: (old_mode.to_vec(), new_mode.to_vec()),
                objects: (line(old), line(new)),
                status,
                is_of_another_kind: status == b'T',
                from,
                to,
                counts: None,
            });
        } else if !field.is_empty() {
            let mut parts = field.splitn(3, |byte| *byte == b'\t');
            let mut count = || line(parts.next().unwrap_or_default()).parse::<u64>().ok();
            let counts = count().zip(count());
            let path = match parts.next().unwrap_or_default() {
                // Of a renamed file both paths follow.
                b"" => {
                    fields.next();
                    fields.next().unwrap_or_default()
                }
                path => path,
            };
            if let Some(changed) = by_path.get(path).and_then(|index| changed.get_mut(*index)) {
                changed.counts = counts;
            }
        }
    }
    Ok(changed)
}

/// Gives the patch in its sections, one for each file.
async fn sections(
    repository: &Repository,
    ready: &Ready,
    now: &str,
    limits: &PlaceLimits,
) -> Result<Vec<Vec<u8>>, WorkplaceError> {
    let relative = relative(ready);
    let mut arguments = vec!["diff-tree", "-r", "--patch", "--find-renames", "--unified=3", "--no-color"];
    arguments.extend([
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=none",
        "--diff-algorithm=histogram",
    ]);
    arguments.extend(["--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"]);
    arguments.extend(relative.as_deref());
    arguments.extend([ready.base.as_str(), now]);
    let purpose =
        Purpose { action: "write the patch", what: "bytes of a patch", most_bytes: limits.patch_bytes };
    let text = repository.run(&arguments, &[], purpose).await?;
    let mut sections: Vec<Vec<u8>> = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // Lines of files have a sign in front, so nothing in a file looks like this.
        if line.starts_with(b"diff --git ") {
            sections.push(Vec::new());
        }
        if let Some(section) = sections.last_mut() {
            section.extend_from_slice(line);
        }
    }
    Ok(sections)
}

/// Names what was changed outside of where the child works.
async fn outside(
    repository: &Repository,
    ready: &Ready,
    now: &str,
    limits: &PlaceLimits,
) -> Result<Vec<LeftOut>, WorkplaceError> {
    if ready.prefix.is_empty() {
        return Ok(Vec::new());
    }
    let arguments = ["diff-tree", "-r", "-z", "--name-only", &ready.base, now];
    let names = repository.run(&arguments, &[], listing(limits)).await?;
    let inside = format!("{}/", ready.prefix);
    let outside = listed(&names).filter(|name| !name.starts_with(inside.as_bytes()));
    let above = "../".repeat(ready.prefix.split('/').count());
    Ok(outside.map(|name| LeftOut::new(format!("{above}{}", shown(name)), OUTSIDE)).collect())
}

fn relative(ready: &Ready) -> Option<String> {
    (!ready.prefix.is_empty()).then(|| format!("--relative={}/", ready.prefix))
}

impl Changed {
    /// Takes what a patch can carry, or says why it cannot.
    fn into_candidate(self, section: Vec<u8>) -> Result<Candidate, LeftOut> {
        let refused = |reason| Err(LeftOut::new(shown(&self.to), reason));
        let is = |mode: &[u8], start: &[u8]| mode.starts_with(start);
        if is(&self.modes.0, b"12") || is(&self.modes.1, b"12") {
            return refused(LINK);
        }
        if is(&self.modes.0, b"16") || is(&self.modes.1, b"16") {
            return refused(REPOSITORY);
        }
        let (Ok(from), Ok(to)) = (str::from_utf8(&self.from), str::from_utf8(&self.to)) else {
            return refused(NAMELESS);
        };
        let Some((added, removed)) = self.counts else { return refused(BINARY) };
        let Ok(text) = String::from_utf8(section) else { return refused(BINARY) };
        let change = match self.status {
            b'A' => FileChange::Added,
            b'D' => FileChange::Removed,
            b'R' => FileChange::Renamed { from: from.to_owned() },
            _ => FileChange::Changed,
        };
        let is_executable = |mode: &[u8]| mode.ends_with(b"755");
        let (was, is_now) = (is_executable(&self.modes.0), is_executable(&self.modes.1));
        let executable = (self.status != b'D' && was != is_now).then_some(is_now);
        let file = PatchFile { added, removed, executable, ..PatchFile::new(to, change) };
        let before = (self.status != b'A').then_some((self.objects.0, was));
        let after = (self.status != b'D').then_some((self.objects.1, is_now));
        Ok(Candidate { file, text, before, after })
    }
}
