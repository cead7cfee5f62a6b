use super::Request;
use super::input::Mode;
use super::output::Output;
use super::visit::{ByTime, FileMatches, Item, Needed, Part};
use crate::scan::Take;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Keeps the files that changed last, as many as can be shown, and gives up the others as it goes.
pub(super) struct LatestFirst<'r> {
    request: &'r Request,
    needed: &'r Needed,
    output: Output<'r>,
    files: BTreeMap<ByTime, FileMatches>,
    /// How many matches they have, or how many files they are where these are asked for.
    kept: u64,
}

impl<'r> LatestFirst<'r> {
    pub(super) fn new(request: &'r Request, needed: &'r Needed, output: Output<'r>) -> Self {
        Self { request, needed, output, files: BTreeMap::new(), kept: 0 }
    }

    fn keep(&mut self, file: FileMatches) {
        self.kept += weight(self.request, &file);
        self.files.insert((Reverse(file.modified), file.path.clone()), file);
        let shown = self.request.offset + self.request.limit;
        while let Some(last) = self.files.last_entry() {
            let weight = weight(self.request, last.get());
            // One more than is shown says that there are more.
            if self.kept - weight <= shown {
                if self.kept > shown {
                    self.needed.set_last(last.key().clone());
                }
                break;
            }
            self.kept -= weight;
            last.remove();
        }
    }

    /// Writes what was kept. Once there is more than is shown, files that come later were not even searched.
    pub(super) fn into_output(mut self) -> Output<'r> {
        for (_, file) in std::mem::take(&mut self.files) {
            // What was kept is bounded.
            let _ = self.output.add(Item::File(file));
            self.output.tally.searched -= 1;
        }
        let shown = self.request.offset + self.request.limit;
        if self.kept > shown {
            self.output.total = shown + 1;
            self.output.has_more = true;
        }
        self.output
    }
}

fn weight(request: &Request, file: &FileMatches) -> u64 {
    if request.mode == Mode::Content { file.found.matches } else { 1 }
}

impl Take<Part> for LatestFirst<'_> {
    fn take(&mut self, part: Part) -> ControlFlow<()> {
        for item in part.0 {
            match item {
                Item::Tally(tally) => self.output.tally.add(tally),
                Item::File(file) => {
                    self.output.tally.searched += 1;
                    self.keep(file);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn most_waiting(&self) -> usize {
        self.output.most_waiting()
    }
}
