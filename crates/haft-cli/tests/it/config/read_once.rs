//! How often a command reads the files in force: what was read is handed down, so that all of it goes by the same.
#![cfg(target_os = "linux")]

use super::{as_user, tree};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Counts how often a file is opened.
struct Watched(OwnedFd);

impl Watched {
    fn new(path: &Path) -> Self {
        let watch = inotify::init(CreateFlags::NONBLOCK).unwrap();
        // Of events that are alike and follow each other only the first is told, so those between them are watched, too.
        inotify::add_watch(&watch, path, WatchFlags::OPEN | WatchFlags::CLOSE).unwrap();
        Self(watch)
    }

    fn opened(&self) -> usize {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.0, &mut buffer);
        let mut opened = 0;
        while let Ok(event) = events.next() {
            opened += usize::from(event.events().contains(inotify::ReadFlags::OPEN));
        }
        opened
    }
}

#[test]
fn each_file_is_read_once_by_a_command() {
    let rules = "[permissions]\nallow = [\"read(**)\"]\n\n[[test]]\ntool = \"other__tool\"\ninput = {}\nexpect = \"ask\"\n";
    let tree = tree(rules, "[shell.commands.lines]\noptions = \"-n\"\noperands = \"read*\"\n")
        .file("work/.mcp.json", "{\"mcpServers\":{}}")
        .file("work/session.jsonl", "{\"text\":\"done\"}\n")
        .file("work/agents/reader.md", "---\nname: reader\ndescription: Reads.\n---\nYou read.\n");
    let nobody = "http://127.0.0.1:9";
    let mut commands = vec![
        vec!["call", "read_file", r#"{"path":"notes.md"}"#],
        vec!["run", "session.jsonl"],
        vec!["agent", "--model", "anthropic/any", "--base-url", nobody, "--agents", "agents", "Read."],
        vec!["serve"],
        vec!["tools"],
        vec!["config", "check"],
        vec!["policy", "explain", "lines -n notes.md"],
    ];
    if cfg!(feature = "restate") {
        commands.push(vec!["worker", "--listen", "127.0.0.1:0", "--tools", "none_that_there_is"]);
    }
    for arguments in commands {
        let files = ["config/haft/haft.toml", "work/haft.toml", "work/.mcp.json"];
        let watched = files.map(|file| Watched::new(&tree.path().join(file)));
        let shown = as_user(&tree, &arguments);
        assert_eq!(watched.map(|file| file.opened()), [1; 3], "{arguments:?}: {shown}");
    }
}
