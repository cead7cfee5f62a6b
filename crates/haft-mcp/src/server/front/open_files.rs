/// Files that are left for what is no connection.
const SPARE: usize = 128;

/// Lets this process have as many files open as it may, and tells how many connections that leaves room for.
///
/// Many systems begin with 1,024 and permit far more to whoever asks.
#[cfg(unix)]
pub(super) fn room_for(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(current) = current else { return wanted };
    let needed = u64::try_from(wanted.saturating_add(SPARE)).unwrap_or(u64::MAX);
    if current >= needed {
        return wanted;
    }
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed)).max(current);
    // A system that refuses leaves what there was.
    let has = match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(_) => current,
    };
    usize::try_from(has).unwrap_or(usize::MAX).saturating_sub(SPARE).clamp(1, wanted)
}

#[cfg(not(unix))]
pub(super) fn room_for(wanted: usize) -> usize {
    wanted
}
