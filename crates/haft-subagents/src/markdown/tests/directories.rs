use crate::{AgentDirectory, AgentFiles};
use expect_test::{Expect, expect};
use std::fs;
use std::path::Path;

fn agent(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does it.\n---\nDo it.\n")
}

fn write(root: &Path, files: &[(&str, String)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn check(directories: impl IntoIterator<Item = AgentDirectory>, expect: Expect) {
    let loaded = AgentFiles::load(directories);
    let agents = loaded.agents.iter().map(|file| format!("{} of {}", file.spec.name, file.source));
    let errors = loaded.errors.iter().map(|error| format!("error: {error}"));
    let notes = loaded.notes.iter().map(|note| format!("note: {note}"));
    expect.assert_eq(&agents.chain(errors).chain(notes).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_directory_that_counts_most_comes_first() {
    let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(
        project.path(),
        &[("b.md", agent("reader")), ("deep/er/a.MD", agent("editor")), ("notes.txt", "x".into())],
    );
    write(
        user.path(),
        &[("reader.md", agent("reader")), ("own.md", agent("own")), (".hidden.md", agent("hidden"))],
    );
    let directories = [
        AgentDirectory::new("project", project.path()),
        AgentDirectory::new("user", user.path()),
        AgentDirectory::new("none", project.path().join("none")),
    ];
    check(
        directories,
        expect![[r#"
        editor of project/deep/er/a.MD
        own of user/own.md
        reader of project/b.md
        note: user/reader.md:1: the agent `reader` of `project/b.md` counts in place of this one"#]],
    );
}

#[test]
fn a_file_that_is_no_agent_stands_in_no_others_way() {
    let place = tempfile::tempdir().unwrap();
    write(
        place.path(),
        &[
            ("a.md", "hello".into()),
            ("b.md", agent("b")),
            ("c.md", agent("my agent")),
            ("large.md", "x".repeat(300_000)),
        ],
    );
    fs::write(place.path().join("d.md"), b"---\nname: \xff").unwrap();
    fs::create_dir(place.path().join("e.md")).unwrap();
    check(
        [AgentDirectory::new("project", place.path())],
        expect![[r#"
        b of project/b.md
        error: `project/a.md` has no front matter; begin it with a line `---`, then `name: …` and `description: …`, then a line `---`
        error: project/c.md:2: `name` is `my agent`; a name has 1 to 64 letters without accents, digits, `-` and `_`
        error: `project/d.md` is not text in UTF-8; put the file itself there
        error: `project/large.md` has more than 262144 bytes; shorten what the agent is told"#]],
    );
}

#[test]
fn two_agents_of_one_name_are_refused() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), &[("a.md", agent("same")), ("b.md", agent("same")), ("c/d.md", agent("same"))]);
    check(
        [AgentDirectory::new("project", place.path())],
        expect![[r#"
        error: `project/a.md` and `project/b.md` are both agents of the name `same`; rename one of them
        error: `project/a.md` and `project/c/d.md` are both agents of the name `same`; rename one of them"#]],
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_only_where_the_host_says_so() {
    let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(other.path(), &[("a.md", agent("linked")), ("in/b.md", agent("below"))]);
    std::os::unix::fs::symlink(other.path().join("a.md"), place.path().join("a.md")).unwrap();
    std::os::unix::fs::symlink(other.path().join("in"), place.path().join("in")).unwrap();
    std::os::unix::fs::symlink(place.path().join("none"), place.path().join("none.md")).unwrap();
    check(
        [AgentDirectory::new("project", place.path())],
        expect![[r#"
        error: `project/a.md` is a symbolic link, which may lead anywhere; put the file itself there
        error: `project/none.md` is a symbolic link, which may lead anywhere; put the file itself there"#]],
    );
    check(
        [AgentDirectory::new("user", place.path()).following_links()],
        expect![[r#"
        below of user/in/b.md
        linked of user/a.md
        error: cannot read `user/none.md`"#]],
    );
}

#[test]
fn there_are_so_many_files_and_levels_at_most() {
    let place = tempfile::tempdir().unwrap();
    for count in 0..502 {
        fs::write(place.path().join(format!("{count}.md")), agent(&format!("a{count}"))).unwrap();
    }
    let loaded = AgentFiles::load([AgentDirectory::new("project", place.path())]);
    assert_eq!((loaded.agents.len(), loaded.errors.len()), (500, 1));
    let deep = tempfile::tempdir().unwrap();
    write(deep.path(), &[("a/b/c/d/e/x.md", agent("x")), ("a/b/c/d/e/f/y.md", agent("y"))]);
    check(
        [AgentDirectory::new("project", deep.path())],
        expect![[r#"
        x of project/a/b/c/d/e/x.md
        error: `project/a/b/c/d/e` holds more than 500 files of agents, or too many levels; move what is not an agent out of it"#]],
    );
}
