use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;

use rustix::process::Pid;

use super::NotStarted;
use crate::program::Program;

/// Leaves it to the standard library.
pub(crate) fn spawn(
    _program: &Program,
    _variables: &BTreeMap<OsString, OsString>,
    _cgroup: Option<BorrowedFd<'_>>,
) -> Result<Pid, NotStarted> {
    Err(NotStarted::Unable)
}
