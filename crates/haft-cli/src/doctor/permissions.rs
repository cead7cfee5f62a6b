use super::Finding;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use haft::Workdir;
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The directories of haft's state in which all is the user's alone: what others could have written is not used.
const PRIVATE: [&str; 5] = ["mcp-eras", "mcp-listed", "mcp-logins", "mcp-pins", "mcp-trust"];

/// The most files of one directory that are looked at.
const MOST_FILES: usize = 1000;

/// Looks whether the directory that is worked in can be.
pub(super) fn of_workdir(workdir: &Workdir) -> Vec<Finding> {
    let (about, path) = ("workdir", workdir.root_path());
    let shown = path.display();
    vec![if let Err(error) = fs::read_dir(path) {
        Finding::error(about, format!("`{shown}` cannot be listed"))
            .because(error.to_string())
            .next("make it readable, or name another directory with `--workdir`")
    } else if access(path, Access::WRITE_OK).is_err() {
        Finding::note(about, format!("`{shown}` can be read and not written, so tools that write fail in it"))
    } else {
        Finding::ok(about, shown.to_string())
    }]
}

/// Looks whether what decides and what is remembered can be written by nobody else.
pub(super) fn of_own_places() -> Vec<Finding> {
    let directories = UserDirectories::from_environment();
    let mut findings = Vec::new();
    if let Some((config, written)) = directories.config() {
        look_at(config, written, Wanted::NotWritable, &mut findings);
        let file = config.join(POLICY_FILE);
        look_at(&file, &format!("{written}/{POLICY_FILE}"), Wanted::NotWritable, &mut findings);
    }
    match directories.state() {
        Ok(state) => {
            look_at(state, &state.display().to_string(), Wanted::Private, &mut findings);
            for folder in PRIVATE {
                let folder = state.join(folder);
                let entries = fs::read_dir(&folder).into_iter().flatten().flatten().take(MOST_FILES);
                for path in entries.map(|entry| entry.path()) {
                    look_at(&path, &path.display().to_string(), Wanted::PrivateFile, &mut findings);
                }
            }
        }
        Err(error) => findings.push(Finding::of_error("files", &error)),
    }
    if findings.is_empty() {
        findings.push(Finding::ok("files", "nobody else can write what is configured or remembered"));
    }
    findings
}

/// Says what others must not do with a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    NotWritable,
    Private,
    /// It is not used where others can read it.
    PrivateFile,
}

fn look_at(path: &Path, shown: &str, wanted: Wanted, findings: &mut Vec<Finding>) {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return,
        Err(error) => {
            let finding = Finding::error("files", format!("cannot look at `{shown}`"));
            findings.push(finding.because(error.to_string()).next("give yourself the rights to it"));
            return;
        }
    };
    findings.extend(fault(&metadata, geteuid().as_raw(), shown, wanted));
}

/// Says what is wrong with who owns a place and who may do what with it.
fn fault(metadata: &Metadata, user: u32, shown: &str, wanted: Wanted) -> Option<Finding> {
    let (owner, mode) = (metadata.uid(), metadata.mode());
    let repair = |bits: &str| format!("run `chmod {bits} {}`", quoted(shown));
    if owner != user && owner != 0 {
        let text = format!("`{shown}` belongs to another user (uid {owner}), who can decide by it");
        return Some(Finding::error("files", text).next("make it your own, or move it away"));
    }
    if mode & 0o022 != 0 {
        let text = format!("`{shown}` can be written by others, who can decide by it");
        return Some(Finding::error("files", text).next(repair("go-w")));
    }
    // None of the six bits of others is set.
    if mode.trailing_zeros() >= 6 || wanted == Wanted::NotWritable {
        return None;
    }
    let finding = if wanted == Wanted::PrivateFile {
        Finding::error("files", format!("`{shown}` can be read by others, so it is not used"))
    } else {
        Finding::warning("files", format!("`{shown}` can be looked into by others"))
    };
    Some(finding.next(repair("go-rwx")))
}

/// Writes a path as a shell reads it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-~$".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
