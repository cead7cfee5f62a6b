use std::time::Duration;

use rustix::process::{Pid, test_kill_process_group};

use super::Survivors;
use crate::marker::Marker;

/// Finds the process group of a call if it has a member left.
///
/// Systems other than Linux do not show enough of their processes to find those that left the group.
pub(crate) fn find(leader: Pid, _marker: &Marker, _age: Duration) -> Survivors {
    Survivors { group: test_kill_process_group(leader).ok().map(|()| leader), ..Survivors::default() }
}
