mod attachments;
mod data;
mod depth;
mod excerpt;
mod keep;
mod news;
mod notes;
mod repair_note;
mod text;

use crate::rewrite::{self, Rewrite};
use crate::{CallScope, Limits, OutputStore, Redactor, ToolRegistry};
use haft_core::{CallId, Content, Origin, Repair, ToolOutput, Truncation, Visible};
pub(crate) use news::shape_news;
use notes::Whereabouts;
pub(super) use repair_note::redact_and_cut;
use std::borrow::Cow;
use std::mem::take;
use std::sync::Arc;
use text::CutText;
use tokio_util::sync::CancellationToken;

/// How large an output is at most that is looked through in place; a larger one would hold up other calls meanwhile.
const IN_PLACE_BYTES: usize = 1 << 20;

/// Is told in place of an output that could not be shaped to its end.
const LOST: &str = "the output of this call was lost; see what the call has done before you repeat it";

/// Is what a call is answered with, bounded, and what was cut from it.
type Shaped = (ToolOutput, Option<Truncation>);

/// Says how outputs are shaped: secrets are replaced, then what cannot be seen is written out, then what is too much is
/// stored and cut.
pub(super) struct Shaper<'a> {
    pub(super) limits: &'a Limits,
    pub(super) redactor: &'a Redactor,
    pub(super) outputs: Option<&'a Arc<dyn OutputStore>>,
    /// What tells whether the model has the tool that reads stored outputs.
    pub(super) registry: &'a ToolRegistry,
    /// Whether the output is of an origin that can mean to deceive.
    pub(super) is_untrusted: bool,
}

/// Tells whether what a tool of this origin gives can mean to deceive: it is written by others than the host.
pub(super) fn is_untrusted(origin: &Origin) -> bool {
    !matches!(origin, Origin::Builtin | Origin::Host)
}

/// Is an output that takes time to shape.
pub(super) struct Unshaped {
    output: ToolOutput,
    is_clean: bool,
    is_heavy: bool,
}

impl Shaper<'_> {
    /// Shapes an output that fits, or is small and goes nowhere; takes one out that has to be stored or takes time.
    pub(super) fn shape(
        &self,
        output: &mut ToolOutput,
        repairs: &[Repair],
    ) -> Result<Option<Truncation>, Unshaped> {
        let needs_cleaning = self.is_untrusted || !self.redactor.is_empty();
        if needs_cleaning {
            if is_heavy(output) {
                return Err(Unshaped { output: take(output), is_clean: false, is_heavy: true });
            }
            clean(output, self.redactor, self.is_untrusted);
        }
        let truncation = if fits(output, self.limits) {
            None
        } else {
            let is_heavy = is_heavy(output);
            if is_heavy || self.outputs.is_some() {
                return Err(Unshaped { output: take(output), is_clean: true, is_heavy });
            }
            let (cut, truncation) = Cut::new(take(output), self.limits).finish(&Stored::default(), self);
            *output = cut;
            truncation
        };
        self.tell_repairs(output, repairs);
        Ok(truncation)
    }

    /// Stores and cuts an output.
    ///
    /// Storing is given up when the call is cancelled or it takes too long: the reply then says that nothing was kept.
    pub(super) async fn finish(
        &self,
        unshaped: Unshaped,
        repairs: &[Repair],
        (scope, call, cancellation): (&CallScope, &CallId, &CancellationToken),
    ) -> Shaped {
        let Unshaped { mut output, is_clean, is_heavy } = unshaped;
        let mut cut = if is_heavy {
            let (redactor, limits, is_untrusted) =
                (self.redactor.clone(), self.limits.clone(), self.is_untrusted);
            let work = tokio::task::spawn_blocking(move || {
                if !is_clean {
                    clean(&mut output, &redactor, is_untrusted);
                }
                Cut::new(output, &limits)
            });
            // A runtime that is shutting down does not let it end.
            work.await.unwrap_or_else(|_| Cut::new(ToolOutput::text(LOST), self.limits))
        } else {
            Cut::new(output, self.limits)
        };
        let mut stored = Stored::default();
        if let Some(outputs) = self.outputs {
            let keep = async |text| keep::keep(&**outputs, scope, call, cancellation, text).await;
            if let Some(whole) = cut.text.as_mut().map(CutText::take_whole) {
                stored.text = keep(whole).await;
            }
            if let Some(whole) = cut.data.as_mut().and_then(data::CutData::take_whole) {
                stored.data = keep(whole).await;
            }
        }
        let (mut output, truncation) = cut.finish(&stored, self);
        self.tell_repairs(&mut output, repairs);
        (output, truncation)
    }

    #[inline]
    fn tell_repairs(&self, output: &mut ToolOutput, repairs: &[Repair]) {
        if repairs.is_empty() {
            return;
        }
        let note = repair_note::repair_note(repairs, self.redactor);
        output.content.extend(note.map(Content::text));
    }

    fn whereabouts<'a>(&'a self, stored: &'a keep::Kept) -> Whereabouts<'a> {
        let reader = || self.registry.entries().iter().find(|entry| entry.reads_outputs);
        match stored {
            keep::Kept::As(output) => match reader() {
                Some(entry) => Whereabouts::Readable { output, tool: entry.name() },
                None => Whereabouts::Stored(output),
            },
            keep::Kept::No => Whereabouts::Nowhere,
            keep::Kept::Failed => Whereabouts::Lost,
        }
    }
}

/// Where what was cut has gone.
#[derive(Default)]
struct Stored {
    text: keep::Kept,
    data: keep::Kept,
}

/// Is an output from which was cut what is too much, still without the notes that say so.
struct Cut {
    output: ToolOutput,
    text: Option<CutText>,
    attachments: Option<attachments::LeftOut>,
    data: Option<data::CutData>,
}

impl Cut {
    fn new(mut output: ToolOutput, limits: &Limits) -> Self {
        let data = data::cut(&mut output, limits);
        depth::flatten(&mut output);
        let attachments = attachments::cut(&mut output.content, limits);
        let text = text::cut(&mut output.content, limits);
        Self { output, text, attachments, data }
    }

    /// Says what was cut, and where it is.
    fn finish(self, stored: &Stored, shaper: &Shaper<'_>) -> Shaped {
        let Self { mut output, text, attachments, data } = self;
        let (mut total, mut kept, mut is_cut) = (0, 0, false);
        if let Some(text) = text {
            (total, kept, is_cut) = (text.total_bytes, text.kept_bytes, true);
            text.tell(&mut output.content, &shaper.whereabouts(&stored.text));
        } else {
            let bytes = output.content.iter().map(text::textual_bytes).sum::<usize>() as u64;
            (total, kept) = (total + bytes, kept + bytes);
        }
        if let Some(left_out) = attachments {
            total += left_out.bytes();
            is_cut = true;
            output.content.push(Content::text(left_out.note(shaper.limits)));
        }
        if let Some(data) = data {
            total += data.bytes();
            is_cut = true;
            output.content.extend(data.note(&shaper.whereabouts(&stored.data)).map(Content::text));
        }
        let whole = stored.text.output().or(stored.data.output());
        (output, is_cut.then(|| Truncation::new(total, kept).with_output(whole.cloned())))
    }
}

/// Replaces secrets, and then writes out what cannot be seen.
fn clean(output: &mut ToolOutput, redactor: &Redactor, is_untrusted: bool) {
    redactor.redact_output(output);
    if is_untrusted {
        rewrite::shown(output, &WrittenOut);
    }
}

struct WrittenOut;

impl Rewrite for WrittenOut {
    fn rewrite<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Visible::new(text).to_cow()
    }
}

/// Tells whether nothing has to be cut, at a price that does not grow with what is far too much.
fn fits(output: &ToolOutput, limits: &Limits) -> bool {
    text::fits(&output.content, limits)
        && attachments::fit(&output.content, limits)
        && data::fits(output, limits)
        && depth::fit(&output.content)
}

/// Tells whether an output takes time to look through.
fn is_heavy(output: &ToolOutput) -> bool {
    let heavy_part = |left: usize, part: &Content| match part {
        Content::Json { value } => left.checked_sub(data::json_bytes(value, left)?),
        part => left.checked_sub(text::textual_bytes(part)),
    };
    let left = output.content.iter().try_fold(IN_PLACE_BYTES, heavy_part);
    let data = output.structured.iter().chain([&output.details]);
    left.and_then(|left| {
        data.clone().try_fold(left, |left, value| left.checked_sub(data::json_bytes(value, left)?))
    })
    .is_none()
}

#[cfg(test)]
mod tests;
