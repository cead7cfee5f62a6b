use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The size of the screen, in characters.
const ROWS: NonZeroU16 = NonZeroU16::new(60).unwrap();
const COLUMNS: NonZeroU16 = NonZeroU16::new(120).unwrap();

/// Is a command at a terminal of its own, as a person sits there.
pub(crate) struct Terminal {
    end: File,
    screen: Arc<Mutex<vt100::Parser>>,
    child: Child,
}

impl Terminal {
    /// Starts a command at a terminal, which controls it: Ctrl-C is a signal there.
    pub(crate) fn start(command: &Command) -> Self {
        let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&end).unwrap();
        unlockpt(&end).unwrap();
        tcsetwinsize(&end, Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 })
            .unwrap();
        let name = ptsname(&end, Vec::new()).unwrap();
        let line = || {
            Stdio::from(open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap())
        };
        let mut started = Command::new("setsid");
        started.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
        if let Some(directory) = command.get_current_dir() {
            started.current_dir(directory);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => started.env(name, value),
                None => started.env_remove(name),
            };
        }
        started.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR");
        let child = started.stdin(line()).stdout(line()).stderr(line()).spawn().unwrap();
        let end = File::from(end);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 1000)));
        let (mut read, shown) = (end.try_clone().unwrap(), Arc::clone(&screen));
        // It ends with the terminal.
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = read.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self { end, screen, child }
    }

    /// Types keys, as they are sent.
    pub(crate) fn types(&mut self, keys: &str) {
        self.end.write_all(keys.as_bytes()).unwrap();
    }

    /// What is on the screen.
    pub(crate) fn shows(&self) -> String {
        let screen = self.screen.lock().unwrap();
        let rows: Vec<String> =
            screen.screen().rows(0, COLUMNS.get()).map(|row: String| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Waits until the screen shows something, for as long as a loaded machine may need.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let shown = self.shows();
            if holds(&shown) {
                return shown;
            }
            assert!(Instant::now() < deadline, "waited in vain: {what}\n{shown}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the last line of the screen ends with this.
    pub(crate) fn until_last(&self, end: &str) -> String {
        self.until(end, |shown| shown.lines().last().is_some_and(|line| line.trim_end().ends_with(end)))
    }

    pub(crate) fn ended(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}
