//! Programs within the words of a command: which of them certainly only print.

mod awk;
mod brackets;
mod keys;
mod sed;
mod sql;
mod variables;

use self::brackets::closes_brackets;

pub(super) use self::awk::only_prints as awk_only_prints;
pub(super) use self::keys::only_move as keys_only_move;
pub(super) use self::sed::only_prints as sed_only_prints;
pub(super) use self::sql::only_reads as sql_only_reads;
pub(crate) use self::variables::is_harmless_assignment;
pub(super) use self::variables::is_own_variable;
