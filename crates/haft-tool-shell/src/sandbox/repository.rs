use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::declared::Declared;
use super::places::{Found, Pattern};

/// A directory of git's that a script may write, with what is protected in it: what the script makes beside that is looked at
/// when it has ended.
///
/// A submodule or a worktree that is added comes with settings and hooks, which git runs from then on. What git itself writes
/// there is left.
#[derive(Debug)]
pub(super) struct Repository {
    /// Where it lies in.
    pub(super) root: PathBuf,
    directory: PathBuf,
    patterns: Vec<Pattern>,
    known: BTreeSet<PathBuf>,
    declared: Declared,
}

impl Repository {
    /// Takes a directory before the script starts, with the places that are known and those that may be written; these of the
    /// patterns say what lies anywhere below a part of it.
    pub(super) fn before(
        (root, directory): (PathBuf, PathBuf),
        patterns: impl Iterator<Item = Pattern>,
        known: BTreeSet<PathBuf>,
        declared: Declared,
    ) -> Self {
        let patterns = patterns.filter(Pattern::is_below).collect();
        Self { root, directory, patterns, known, declared }
    }

    /// Finds what was made meanwhile and is not as git writes it; where too much was made to look at, all of that part.
    pub(super) fn made(&self) -> BTreeSet<PathBuf> {
        let mut made = BTreeSet::new();
        for pattern in &self.patterns {
            let Found { places, more_below } = pattern.places(&self.directory);
            let is_new = |place: &PathBuf| !self.known.contains(place) && !self.declared.covers(place);
            let new = places.into_iter().filter(is_new);
            made.extend(new.filter(|place| place.symlink_metadata().is_ok() && !self.is_usual(place)));
            made.extend(more_below);
        }
        made
    }

    /// Tells whether an entry holds what git writes when it adds a submodule or a worktree, and nothing that it runs.
    fn is_usual(&self, place: &Path) -> bool {
        match place.file_name().and_then(|name| name.to_str()) {
            Some("hooks") => is_of_samples(place),
            Some("config") => small_text(place)
                .is_some_and(|text| has_usual_settings(&text, self.steps_up(place).unwrap_or_default())),
            Some("commondir") => small_text(place).is_some_and(|text| text.trim_end() == "../.."),
            _ => false,
        }
    }

    /// How many directories above a place's the work of the repository lies.
    fn steps_up(&self, place: &Path) -> Option<usize> {
        Some(place.parent()?.strip_prefix(self.directory.parent()?).ok()?.components().count())
    }
}

fn is_of_samples(hooks: &Path) -> bool {
    let Ok(true) = hooks.symlink_metadata().map(|found| found.is_dir()) else { return false };
    let Ok(mut entries) = fs::read_dir(hooks) else { return false };
    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".sample")))
}

fn small_text(file: &Path) -> Option<String> {
    let found = file.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > 64 * 1024 {
        return None;
    }
    fs::read_to_string(file).ok()
}

/// The settings that git writes of a submodule, by section; none of them names a program.
const USUAL: [(&str, &[&str]); 4] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "worktree",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
        ],
    ),
    ("remote", &["url", "fetch"]),
    ("branch", &["remote", "merge"]),
    ("submodule", &["active", "url"]),
];

/// Tells whether settings are such as git writes, where the work lies so many directories above them.
fn has_usual_settings(text: &str, steps_up: usize) -> bool {
    let mut allowed: &[&str] = &[];
    text.lines().map(str::trim).filter(|line| !line.is_empty()).all(|line| {
        if let Some(section) = line.strip_prefix('[') {
            let Some((section, "")) = section.rsplit_once(']') else { return false };
            let name = section.split_once(" \"").map_or(section, |(name, _)| name);
            let usual = USUAL.iter().find(|(usual, _)| usual.eq_ignore_ascii_case(name));
            allowed = usual.map_or(&[], |(_, keys)| keys);
            return usual.is_some();
        }
        let Some((key, value)) = line.split_once('=') else { return false };
        let key = key.trim();
        // A line that goes on in the next could be read otherwise there.
        !value.ends_with('\\')
            && allowed.iter().any(|usual| usual.eq_ignore_ascii_case(key))
            && (!key.eq_ignore_ascii_case("worktree") || is_beside(value.trim(), steps_up))
    })
}

/// Tells whether files are checked out to a plain place in the work of the repository: git writes there what others have made, and
/// not where anything is run from.
fn is_beside(worktree: &str, steps_up: usize) -> bool {
    let steps: Vec<&str> = worktree.split('/').collect();
    let ups = steps.iter().take_while(|step| **step == "..").count();
    ups == steps_up
        && steps.len() > ups
        && steps[ups..].iter().all(|step| !step.is_empty() && !step.starts_with(['.', '"', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_testkit::Tree;

    #[test]
    fn settings_that_name_no_program_are_usual() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tworktree = ../../../lib\n\
                     [remote \"origin\"]\n\turl = ../lib\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                     [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(has_usual_settings(usual, 3) && has_usual_settings("", 3));
        for other in [
            "[core]\n\thooksPath = x\n",
            "[core]\n\tfsmonitor = ./x\n",
            "[core] fsmonitor = ./x\n",
            "[Core]\nHooksPath=x",
            "[include]\n\tpath = ../x\n",
            "[filter \"x\"]\n\tsmudge = ./x\n",
            "[remote \"origin\"]\n\tuploadpack = ./x\n",
            "[alias]\n\tx = !x\n",
            "[core]\n\tbare = false\\\n\thooksPath = x\n",
            "[core]\n\tbare\n",
            "[core]\n\tworktree = ../../../../home\n",
            "[core]\n\tworktree = ../../hooks\n",
            "[core]\n\tworktree = ../../../.git\n",
            "[core]\n\tworktree = ../../../a/../.git\n",
            "[core]\n\tworktree = ../../..\n",
            "[core]\n\tWorktree = /home\n",
            "[core]\n\tworktree = \"../../../.git\"\n",
            "hooksPath = x\n",
        ] {
            assert!(!has_usual_settings(other, 3), "{other}");
            assert!(!has_usual_settings(&format!("{usual}{other}"), 3), "{other}");
        }
    }

    #[test]
    fn what_git_runs_of_a_new_submodule_is_found() {
        let tree = Tree::new().file(".git/modules/old/hooks/pre-commit", "x");
        let patterns = ["modules/**/hooks", "modules/**/config", "worktrees/**/commondir", "hooks"];
        let git = tree.path().join(".git");
        let patterns = || patterns.iter().map(|one| Pattern::new(one));
        let known = patterns().flat_map(|pattern| pattern.places(&git).places).collect();
        let places = (tree.path().to_owned(), git.clone());
        let repository = Repository::before(places, patterns(), known, Declared::default());
        let tree = tree
            .file(".git/modules/usual/hooks/update.sample", "x")
            .file(".git/modules/usual/config", "[core]\n\tbare = false\n")
            .file(".git/worktrees/w/commondir", "../..\n")
            .file(".git/modules/a/hooks/post-checkout", "x")
            .file(".git/modules/b/config", "[core]\n\thooksPath = x\n")
            .file(".git/modules/d/config", "[core]\n\tworktree = ../../../../d\n")
            .file(".git/modules/e/config", "[core]\n\tworktree = ../../../e\n")
            .file(".git/worktrees/v/commondir", "/elsewhere\n")
            .link(".git/modules/c/hooks", "../../../x");
        let made: Vec<String> = repository
            .made()
            .iter()
            .map(|place| place.strip_prefix(&git).unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            made,
            [
                "modules/a/hooks",
                "modules/b/config",
                "modules/c/hooks",
                "modules/d/config",
                "worktrees/v/commondir"
            ]
        );
        for number in 0..600 {
            fs::create_dir_all(git.join(format!("modules/d{number}"))).unwrap();
        }
        assert!(repository.made().contains(&git.join("modules")));
        drop(tree);
    }
}
