use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::ioctl_tiocsctty;
#[cfg(target_os = "linux")]
use rustix::pty::ioctl_tiocgptpeer;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::preparation::Preparation;
use crate::program::Program;

/// Is a terminal of a program's own, of which this holds the end that a person would sit at.
///
/// ```
/// use haft_process::{Environment, ProcessTree, Program, Terminal};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let terminal = Terminal::open(24, 80)?;
/// let program = Program::new("/bin/sh").arguments(["-c", "test -t 0"]);
/// let (mut processes, _end) = ProcessTree::start_in_terminal(program, &Environment::minimal(), terminal)?;
/// processes.exited().await;
/// assert!(processes.reap().is_some_and(|status| status.success()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Terminal {
    end: OwnedFd,
    line: OwnedFd,
}

impl Terminal {
    /// Makes one with a size in characters.
    ///
    /// # Errors
    ///
    /// When the system has no terminal or descriptor to spare.
    pub fn open(rows: u16, columns: u16) -> io::Result<Self> {
        let end = open_end()?;
        grantpt(&end)?;
        unlockpt(&end)?;
        let line = open_line(&end)?;
        tcsetwinsize(&end, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
        Ok(Self { end, line })
    }

    /// Holds the terminal open at the end that programs are given.
    ///
    /// As long as this is held, nothing is lost to whoever reads at the other end while all programs have closed the terminal
    /// and one may open it again; what is held keeps no program from learning that the terminal is gone.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor to spare.
    pub fn held_open(&self) -> io::Result<OwnedFd> {
        self.line.try_clone()
    }

    /// Gives a program the terminal for all that it reads and prints, and as the one that controls it; the program has to
    /// be started in a session of its own.
    ///
    /// Returns the end at which what it prints is read, and what it reads is written. Reading fails while nobody has the
    /// terminal open, as when all have closed it or the program has ended.
    #[expect(unsafe_code, reason = "a terminal can be taken only by the new process itself")]
    pub(crate) fn attach(self, program: Program) -> io::Result<(Program, OwnedFd)> {
        let mut program =
            program.input(self.line.try_clone()?).output(self.line.try_clone()?).errors(self.line);
        // SAFETY: it makes one system call and nothing else.
        let take = unsafe { Preparation::new(|| Ok(ioctl_tiocsctty(rustix::stdio::stdin())?)) };
        program.preparations.insert(0, take);
        Ok((program, self.end))
    }
}

/// Opens a new terminal at the end that no program is given.
#[cfg(target_os = "linux")]
fn open_end() -> io::Result<OwnedFd> {
    Ok(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?)
}

#[cfg(not(target_os = "linux"))]
fn open_end() -> io::Result<OwnedFd> {
    use rustix::io::{FdFlags, fcntl_setfd};

    // Not every system closes it by itself in programs that are started.
    let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&end, FdFlags::CLOEXEC)?;
    Ok(end)
}

/// Opens the end that programs are given, and not by its name, which can be that of another where something else is mounted
/// for this process.
#[cfg(target_os = "linux")]
fn open_line(end: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    // Systems that stand in for Linux may know no other way than the name.
    ioctl_tiocgptpeer(end, flags).or_else(|_| open_named_line(end))
}

#[cfg(not(target_os = "linux"))]
fn open_line(end: &OwnedFd) -> io::Result<OwnedFd> {
    open_named_line(end)
}

fn open_named_line(end: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(open(ptsname(end, Vec::new())?, flags, Mode::empty())?)
}
