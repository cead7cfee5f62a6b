#![expect(
    unsafe_code,
    reason = "what a new process does before its program is executed can be made safe by its author alone"
)]

use std::fmt;
use std::io;

/// Is something that a new process does before it executes its program.
pub(crate) struct Preparation(Box<dyn Fn() -> io::Result<()> + Send + Sync>);

impl Preparation {
    /// Takes what is to be done.
    ///
    /// # Safety
    ///
    /// It makes system calls alone: it allocates nothing, takes no lock, does not panic, and changes nothing in memory that
    /// others look at. The new process has the memory of this one, in which other threads may have held locks.
    pub(crate) unsafe fn new(what: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Box::new(what))
    }

    /// Does it; called in the new process.
    pub(crate) fn run(&self) -> io::Result<()> {
        (self.0)()
    }
}

impl fmt::Debug for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Preparation")
    }
}
