use crate::lines::LineEnd;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How many places of a file are remembered at most.
const PLACES: u64 = 4096;

/// How far apart, in bytes, the places of a file are that are remembered; more in a file that has too many.
const STEP_BYTES: u64 = 64 * 1024;

/// How many files are remembered.
const FILES: usize = 16;

/// From how many bytes on a file is remembered.
const REMEMBERED_BYTES: u64 = 1024 * 1024;

/// How long ago a file must have changed for the next change to be seen by its time.
const SETTLED: Duration = Duration::from_secs(2);

/// What a whole file is like.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) bytes: u64,
    pub(super) newlines: u64,
    /// Newlines with a carriage return before them.
    pub(super) crlf: u64,
    /// Carriage returns, wherever they are.
    returns: u64,
    /// What counts as a newline.
    pub(super) line_end: LineEnd,
    pub(super) ends_in_newline: bool,
    ends_in_return: bool,
}

impl Total {
    /// Tells whether lines end in what was not counted as a newline.
    fn ends_otherwise(&self) -> bool {
        self.line_end == LineEnd::Feed && self.newlines == 0 && self.returns > 0
    }

    /// Counts lines; one without a newline at its end counts too.
    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(self.bytes > 0 && !self.ends_in_newline)
    }

    /// Takes the next bytes into account and says how many newlines they have.
    pub(super) fn add(&mut self, chunk: &[u8]) -> u64 {
        let newlines = self.line_end.count(chunk);
        let mut crlf = 0;
        for place in memchr::memchr_iter(b'\r', chunk) {
            self.returns += 1;
            crlf += u64::from(chunk.get(place + 1) == Some(&b'\n'));
        }
        let across = self.ends_in_return && chunk.first() == Some(&b'\n');
        self.bytes += chunk.len() as u64;
        self.newlines += newlines;
        self.crlf += crlf + u64::from(across);
        self.ends_in_newline = chunk.last() == Some(&self.line_end.byte());
        self.ends_in_return = chunk.last() == Some(&b'\r');
        newlines
    }
}

/// What one pass over a file finds: what it is like, and how many newlines there are before places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Survey {
    pub(super) total: Total,
    step: u64,
    /// The newlines before every multiple of the step.
    places: Vec<u64>,
}

impl Survey {
    /// Starts one of a file of so many bytes, in which this is a newline.
    pub(super) fn new(bytes: u64, line_end: LineEnd) -> Self {
        let step = bytes.div_ceil(PLACES).next_multiple_of(STEP_BYTES).max(STEP_BYTES);
        Self { total: Total { line_end, ..Total::default() }, step, places: Vec::new() }
    }

    /// Tells whether another pass has to be made, in which a carriage return is a newline.
    pub(super) fn ends_otherwise(&self) -> bool {
        self.total.ends_otherwise()
    }

    /// Takes the next bytes, at most [`STEP_BYTES`] that start at a multiple of it; says how many newlines they have.
    pub(super) fn add(&mut self, chunk: &[u8]) -> u64 {
        if self.total.bytes.is_multiple_of(self.step) {
            self.places.push(self.total.newlines);
        }
        self.total.add(chunk)
    }

    /// Gives the last remembered place before the start of a line, and the number of the line that it is in.
    pub(super) fn before(&self, line: u64) -> (u64, u64) {
        // The line feed that ends the line before has to come behind it.
        let index = self.places.partition_point(|newlines| newlines + 1 < line).saturating_sub(1);
        let newlines = self.places.get(index).copied().unwrap_or_default();
        (index as u64 * self.step, newlines + 1)
    }
}

/// By what a file is known to be as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Takes one of a file that is worth it and can be told from what it becomes by its times.
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        if metadata.len() < REMEMBERED_BYTES {
            return None;
        }
        let is_settled = metadata
            .modified()
            .is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|ago| ago > SETTLED));
        is_settled.then(|| Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// Surveys of the large files that were read last, so that the next slice of one needs no pass over it.
#[derive(Debug, Default)]
pub(super) struct Surveys {
    /// The one used last at the end.
    pub(super) known: Mutex<Vec<(Stamp, Arc<Survey>)>>,
}

impl Surveys {
    pub(super) fn get(&self, stamp: Stamp) -> Option<Arc<Survey>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let index = known.iter().position(|(other, _)| *other == stamp)?;
        let entry = known.remove(index);
        let survey = Arc::clone(&entry.1);
        known.push(entry);
        Some(survey)
    }

    pub(super) fn put(&self, stamp: Stamp, survey: Arc<Survey>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(other, _)| (other.device, other.inode) != (stamp.device, stamp.inode));
        if known.len() == FILES {
            known.remove(0);
        }
        known.push((stamp, survey));
    }
}

#[cfg(test)]
mod tests {
    use super::{STEP_BYTES, Survey, Total};
    use crate::lines::LineEnd;

    #[test]
    fn counts_line_ends_that_two_buffers_share() {
        let mut total = Total::default();
        for chunk in [b"a\r".as_slice(), b"\nb\n\r", b"\n"] {
            total.add(chunk);
        }
        assert_eq!((total.bytes, total.newlines, total.crlf, total.lines()), (7, 3, 2, 3));
    }

    #[test]
    fn knows_a_place_before_each_line() {
        let step = usize::try_from(STEP_BYTES).unwrap();
        // Lines of 16 bytes, so that each step starts a line.
        let chunk = b"0123456789abcde\n".repeat(step / 16);
        let mut survey = Survey::new(STEP_BYTES * 3, LineEnd::Feed);
        for _ in 0..3 {
            survey.add(&chunk);
        }
        let each = STEP_BYTES / 16;
        let places = [1, 2, each, each + 1, each + 2, 3 * each].map(|line| survey.before(line));
        assert_eq!(
            places,
            [(0, 1), (0, 1), (0, 1), (0, 1), (STEP_BYTES, each + 1), (2 * STEP_BYTES, 2 * each + 1)]
        );
    }

    #[test]
    fn remembers_few_places_of_a_huge_file() {
        assert_eq!(Survey::new(1 << 40, LineEnd::Feed).step, (1 << 40) / 4096);
    }
}
