use super::Finding;
use crate::config::UserConfig;
use crate::shared_store::Database;
use crate::user_directories::UserDirectories;
use crate::when::ago;
use haft::store::{Examination, OpenError, SqliteChanges, SqliteStore};
use rustix::fs::{Access, AtFlags, CWD, accessat, statvfs};
use std::error::Error;
use std::path::Path;

/// Less room than this is soon used up by what runs say.
const LITTLE_ROOM: u64 = 512 << 20;

/// Less room than this keeps nothing of a larger run.
const NO_ROOM: u64 = 32 << 20;

/// What can be done where the database cannot be used.
const ELSEWHERE: &str =
    "put right what the cause says, or set HAFT_STATE to the absolute path of another file";

/// The most runs that are named.
const MOST_NAMED: usize = 3;

/// Looks at what haft remembers: whether it can be read, what waits in it, and whether there is room for more.
pub(super) fn look() -> Vec<Finding> {
    let directories = UserDirectories::from_environment();
    let path = match directories.state_file() {
        Ok(Some(path)) => path,
        Ok(None) => {
            let text = "there is no place to remember anything in";
            let next = "set HOME, or HAFT_STATE to the absolute path of a file";
            return vec![Finding::warning("state", text).next(next)];
        }
        Err(error) => return vec![Finding::of_error("state", &error)],
    };
    let mut findings = Vec::new();
    // What a database has is looked at there, and what is wrong with the file that names one is told as such.
    let shared = UserConfig::read().and_then(|user| Database::of_user(user.file.as_ref()));
    let is_shared = matches!(shared, Ok(Some(_)) | Err(_));
    match SqliteStore::examine(path) {
        _ if is_shared => {}
        Ok(Some(found)) => {
            whole("state", path, &found, &mut findings);
            if found.faults.is_empty() {
                waiting(&found, &mut findings);
            }
        }
        Ok(None) => findings.push(unwritable("state", path).unwrap_or_else(|| {
            let text = format!("nothing is remembered yet; it will be in `{}`", path.display());
            Finding::ok("state", text)
        })),
        Err(error) => findings.push(unusable("state", &error)),
    }
    if let Ok(Some(changes)) = directories.changes_file() {
        match SqliteChanges::examine(&changes) {
            Ok(Some(found)) => whole("changes", &changes, &found, &mut findings),
            // It lies beside the other, of which the same was said.
            Ok(None) if is_shared => findings.extend(unwritable("changes", &changes)),
            Ok(None) => {}
            Err(error) => findings.push(unusable("changes", &error)),
        }
    }
    findings.extend(room(path));
    findings
}

/// Says why a database cannot be made here, if that is so.
fn unwritable(about: &str, path: &Path) -> Option<Finding> {
    let there = path.ancestors().skip(1).find(|ancestor| ancestor.symlink_metadata().is_ok())?;
    let because = if there.is_dir() {
        accessat(CWD, there, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).err()?.kind().to_string()
    } else {
        "it is no directory, or a link that leads to none".to_owned()
    };
    let text = format!("nothing can be remembered: `{}` cannot be made", path.display());
    let because = format!("nothing can be put into `{}`: {because}", there.display());
    Some(Finding::error(about, text).because(because).next(ELSEWHERE))
}

/// Says whether a database is whole, up to date and the user's own.
fn whole(about: &str, path: &Path, found: &Examination, findings: &mut Vec<Finding>) {
    let shown = path.display();
    if let Some((first, more)) = found.faults.split_first() {
        let finding = Finding::error(about, format!("`{shown}` is damaged")).because(first);
        let finding = more.iter().fold(finding, Finding::because);
        findings
            .push(finding.next(
                "move it away, and restore it or begin anew; what was granted has to be granted again",
            ));
        return;
    }
    if !found.open_to_others.is_empty() {
        let text = format!("`{shown}` can be read or written by others");
        let next = format!("run `chmod go-rwx {shown}*`; the next command that uses it does the same");
        findings.push(Finding::warning(about, text).next(next));
    }
    findings.push(Finding::ok(about, format!("`{shown}` is whole, {}", extent(found))));
}

/// Says how large a database is, and which version its form is of where that is an earlier one.
pub(super) fn extent(found: &Examination) -> String {
    let size = size(found.bytes);
    if found.version < found.newest {
        format!(
            "{size}, version {} of its form, which becomes {} when it is used next",
            found.version, found.newest
        )
    } else {
        size
    }
}

fn unusable(about: &str, error: &OpenError) -> Finding {
    let finding = Finding::error(about, error.to_string());
    let causes = std::iter::successors(error.source(), |cause| Error::source(*cause));
    let finding = causes.fold(finding, |finding, cause| finding.because(cause.to_string()));
    finding.next(ELSEWHERE)
}

/// Says what in it waits for a person.
pub(super) fn waiting(found: &Examination, findings: &mut Vec<Finding>) {
    if found.waiting > 0 {
        let since = found.waiting_since_ms.map(|at| format!(", the first of them asked {}", ago(at)));
        let text = match found.waiting {
            1 => format!(
                "1 call waits for an answer{}",
                since.map_or(String::new(), |since| since.replace("the first of them ", ""))
            ),
            calls => format!("{calls} calls wait for an answer{}", since.unwrap_or_default()),
        };
        findings.push(Finding::note("approvals", text).next("`haft approvals list` shows what is asked"));
    }
    if !found.interrupted.is_empty() {
        let count = found.interrupted.len();
        let named = found.interrupted.iter().take(MOST_NAMED).map(String::as_str);
        let named = haft::tools_core::listed(named, "and");
        let text = match count {
            1 => format!("the run {named} was interrupted"),
            count if count <= MOST_NAMED => format!("the runs {named} were interrupted"),
            count => format!("{count} runs were interrupted, the last of them {named}"),
        };
        let next = "`haft resume RUN` goes on with one, and `haft resume RUN --drop` gives it up";
        findings.push(Finding::note("runs", text).next(next));
    }
}

/// Says how much room is left where things are remembered.
fn room(path: &Path) -> Option<Finding> {
    let there = path.ancestors().skip(1).find(|ancestor| ancestor.is_dir())?;
    let disk = statvfs(there).ok()?;
    let left = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} are left on the disk of `{}`", size(left), there.display());
    let next = "make room: a run whose calls cannot be recorded stops";
    Some(match left {
        0..NO_ROOM => Finding::error("disk", text).next(next),
        NO_ROOM..LITTLE_ROOM => Finding::warning("disk", text).next(next),
        _ => Finding::ok("disk", text),
    })
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut left = bytes;
    let mut unit = "bytes";
    for next in UNITS {
        if left < 10_240 && (unit == "bytes" || left < 1024) {
            break;
        }
        (left, unit) = (left / 1024, next);
    }
    format!("{left} {unit}")
}
