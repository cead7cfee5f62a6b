//! What is shown while something takes long: on a terminal, and nowhere else.

use crate::mcp::User;
use crate::terminal::Terminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::JoinHandle;

/// What is shown while servers are started.
const SHOWN: &str = "starting the servers";

/// Is a user with a server that starts when it is let.
struct Slow {
    user: User,
    go: PathBuf,
}

impl Slow {
    fn new() -> Self {
        let user = User::new();
        let program = Path::new(env!("CARGO_BIN_EXE_haft")).with_file_name("examples").join("mcp-echo");
        assert!(program.exists(), "build the examples of this crate: cargo test does");
        let file = |name: &str| user.home().join(name);
        std::fs::write(file("description"), "Says it again.").unwrap();
        let script = format!(
            "echo $$ > '{}'; until [ -e '{}' ]; do sleep 0.02; done; exec '{}' '{}' '{}'",
            file("waits").display(),
            file("go").display(),
            program.display(),
            file("description").display(),
            file("starts").display()
        );
        let configuration =
            format!("[mcp.servers.slow]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\n");
        user.write_config("haft.toml", &configuration);
        let go = file("go");
        Self { user, go }
    }

    fn let_go(&self) {
        std::fs::write(&self.go, "").unwrap();
    }

    /// Lets the server go on as soon as it waits, and gives all that a command prints into pipes.
    fn piped(&self, arguments: &[&str]) -> Output {
        let (waits, go) = (self.user.home().join("waits"), self.go.clone());
        let letting: JoinHandle<()> = std::thread::spawn(move || {
            while !waits.exists() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            std::fs::write(go, "").unwrap();
        });
        let output = self.user.command(arguments).output().unwrap();
        letting.join().unwrap();
        output
    }

    /// A command of a shell in which `$HAFT` is the command.
    fn script(&self, script: &str) -> Command {
        let haft = self.user.command(&[]);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).current_dir(haft.get_current_dir().unwrap());
        for (name, value) in haft.get_envs() {
            command.env(name, value.unwrap());
        }
        command.env("HAFT", env!("CARGO_BIN_EXE_haft"));
        command
    }
}

#[test]
fn on_a_terminal_a_line_moves_while_something_takes_long_and_is_gone_when_it_is_done() {
    let slow = Slow::new();
    let terminal = Terminal::start(&slow.user.command(&["mcp", "tools"]));
    let first = terminal.until("what is done", |shown| shown.contains(SHOWN));
    let line = |shown: &str| shown.lines().find(|line| line.contains(SHOWN)).unwrap_or_default().to_owned();
    let (sign, rest) =
        line(&first).split_once(' ').map(|(sign, rest)| (sign.to_owned(), rest.to_owned())).unwrap();
    assert!("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(&sign) && rest.starts_with(SHOWN), "{first}");
    terminal.until("another sign", |shown| line(shown).split_once(' ').is_some_and(|(now, _)| now != sign));
    slow.let_go();
    let last = terminal.until("the tools", |shown| shown.contains("slow__say"));
    assert!(!last.contains(SHOWN), "{last}");
    assert!(terminal.ended().success());
}

#[test]
fn where_standard_error_is_no_terminal_nothing_is_drawn() {
    let slow = Slow::new();
    let output = slow.piped(&["mcp", "tools"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "slow__say  Says it again.\n");
    // Nor is it where only standard output is one.
    let slow = Slow::new();
    let said = slow.user.path("said");
    let terminal = Terminal::start(&slow.script("\"$HAFT\" mcp tools 2> said; echo ended"));
    let waits = slow.user.home().join("waits");
    terminal.until("the server waits", |_| waits.exists());
    slow.let_go();
    let shown = terminal.until("the end", |shown| shown.contains("ended"));
    assert!(shown.contains("slow__say") && !shown.contains(SHOWN), "{shown}");
    assert_eq!(std::fs::read_to_string(said).unwrap(), "");
}

#[test]
fn output_for_programs_is_disturbed_by_nothing_and_a_terminal_that_cannot_move_shows_nothing() {
    for script in ["\"$HAFT\" mcp tools --json; echo ended", "TERM=dumb \"$HAFT\" mcp tools; echo ended"] {
        let slow = Slow::new();
        let terminal = Terminal::start(&slow.script(script));
        let waits = slow.user.home().join("waits");
        terminal.until("the server waits", |shown| {
            assert!(!shown.contains(SHOWN), "{script}: {shown}");
            waits.exists()
        });
        slow.let_go();
        let shown = terminal.until("the end", |shown| shown.contains("ended"));
        assert!(shown.contains("slow__say") && !shown.contains(SHOWN), "{script}: {shown}");
    }
}
