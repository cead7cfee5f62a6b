use super::{BYTES_A_TOKEN, CompactError, Compaction, CompactionContext, Told, estimate};
use async_trait::async_trait;
use haft_core::{Content, Message, OutputId, ToolOutput, ToolReply, Truncation};
use haft_tools_core::{CallScope, OutputError, OutputStore};
use std::fmt;
use std::sync::Arc;

/// Outputs of at most so many bytes are told whole: their handle would hardly be shorter.
const SMALL: usize = 400;

/// How much of an output is looked at to tell whether it is the same, in bytes.
const SAME: usize = 64;

/// Tells old outputs of tools by their handles: what they were stays in an output store, and can be read there.
///
/// Where the store no longer has one, as in another process whose store is empty, it is put there again from the transcript.
/// The replies of the last turns stay whole. Where that is not enough, those of fewer and fewer turns do, down to the last
/// one. An output that cannot be stored stays whole as well, and so do images, sounds and other bytes, which no handle
/// gives back.
///
/// ```
/// use haft_agent::CutOutputs;
/// use haft_tools_core::{LocalOutputs, OutputStore};
/// use std::sync::Arc;
///
/// let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
/// // The same store is given to the executor, and to the tool `read_output`.
/// let compaction = CutOutputs::new(outputs).keep_turns(8);
/// # let _ = compaction;
/// ```
pub struct CutOutputs {
    outputs: Arc<dyn OutputStore>,
    keep: usize,
}

impl CutOutputs {
    /// Stores what is cut in this store, which the model must be able to read with the tool `read_output`.
    pub fn new(outputs: Arc<dyn OutputStore>) -> Self {
        Self { outputs, keep: 4 }
    }

    /// Keeps the replies of so many turns whole; 4 by default, and at least 1.
    pub fn keep_turns(mut self, turns: usize) -> Self {
        self.keep = turns.max(1);
        self
    }

    /// Cuts the outputs of one message; gives `None` if there is nothing to cut.
    async fn cut(&self, scope: &CallScope, replies: &[ToolReply]) -> Option<Message> {
        let mut replies = replies.to_vec();
        let mut is_cut = false;
        for reply in &mut replies {
            let bytes: usize =
                reply.output.content.iter().filter(|part| is_text(part)).map(Content::size_bytes).sum();
            if bytes <= SMALL {
                continue;
            }
            let Some((output, bytes)) = self.handle(scope, reply, bytes as u64).await else { continue };
            let told = told_as(&output, bytes);
            reply.truncation = Some(Truncation::new(bytes, 0).with_output(Some(output)));
            let whole = std::mem::take(&mut reply.output.content).into_iter().filter(|part| !is_text(part));
            reply.output = ToolOutput::new([Content::text(told)].into_iter().chain(whole).collect());
            is_cut = true;
        }
        is_cut.then_some(Message::Tool { replies })
    }

    /// Finds the output in the store, or puts it there; gives its name, and how many bytes it has.
    async fn handle(&self, scope: &CallScope, reply: &ToolReply, bytes: u64) -> Option<(OutputId, u64)> {
        let text = reply.output.to_text();
        let known = reply.truncation.as_ref();
        if let Some((output, total)) = known.and_then(|cut| Some((cut.output.clone()?, cut.total_bytes)))
            && self.is_kept(scope, &output, &text).await
        {
            return Some((output, total));
        }
        self.outputs.store(scope, &reply.call_id, text).await.ok().map(|output| (output, bytes))
    }

    /// Tells whether the store has an output that begins as a text does: one of another process can have given the name to
    /// something else.
    async fn is_kept(&self, scope: &CallScope, output: &OutputId, text: &str) -> bool {
        let head = &text.as_bytes()[..text.len().min(SAME)];
        match self.outputs.read(scope, output, 0..head.len() as u64).await {
            Ok(chunk) => *chunk.bytes == *head,
            // It is there, or was, and cannot be read now.
            Err(error) => !matches!(error, OutputError::Unknown { .. } | OutputError::Evicted { .. }),
        }
    }

    /// Tells whether the store has all that is told by its handle.
    async fn are_kept(&self, scope: &CallScope, replies: &[ToolReply], cut: &[ToolReply]) -> bool {
        for (reply, cut) in replies.iter().zip(cut) {
            if reply.output.content == cut.output.content {
                continue;
            }
            let output = cut.truncation.as_ref().and_then(|truncation| truncation.output.as_ref());
            let Some(output) = output else { return false };
            if !self.is_kept(scope, output, &reply.output.to_text()).await {
                return false;
            }
        }
        true
    }
}

/// What is told in the place of the text of an output.
fn told_as(output: &OutputId, bytes: u64) -> String {
    format!(
        "[{bytes} bytes of output are left out here, to make room: `read_output` gives them, with output \"{output}\"]"
    )
}

/// Tells whether a store keeps all of a part: it keeps text.
fn is_text(part: &Content) -> bool {
    match part {
        Content::Text { .. } | Content::Json { .. } | Content::ResourceLink { .. } => true,
        Content::Resource { data, .. } => data.is_none(),
        _ => false,
    }
}

#[async_trait]
impl Compaction for CutOutputs {
    async fn compact(&self, context: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
        let with_replies: Vec<(usize, &Arc<Message>)> =
            context.told().filter(|(_, message)| matches!(***message, Message::Tool { .. })).collect();
        let mut told = Vec::new();
        let (mut tokens, mut keep, mut next) = (context.tokens, self.keep, 0);
        loop {
            let end = with_replies.len().saturating_sub(keep).max(next);
            for (index, message) in &with_replies[next..end] {
                let Message::Tool { replies } = &***message else { continue };
                if let Some(cut) = self.cut(context.scope, replies).await {
                    tokens = tokens.saturating_sub(estimate(message)).saturating_add(estimate(&cut));
                    told.push(Told::instead_of(*index, cut));
                }
            }
            next = end;
            if tokens <= context.target || keep == 1 {
                return Ok(told);
            }
            keep /= 2;
        }
    }

    async fn renew(&self, context: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
        let mut told = Vec::new();
        for (index, message, instead) in context.replaced() {
            let (Message::Tool { replies }, Message::Tool { replies: cut }) = (&**message, &**instead) else {
                continue;
            };
            if self.are_kept(context.scope, replies, cut).await {
                continue;
            }
            // What cannot be stored again is told whole.
            let again = self.cut(context.scope, replies).await.map(Arc::new);
            told.push(Told::instead_of(index, again.unwrap_or_else(|| Arc::clone(message))));
        }
        Ok(told)
    }
}

impl fmt::Debug for CutOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CutOutputs").field("keep", &self.keep).finish_non_exhaustive()
    }
}

const _: () = assert!(SMALL as u64 / BYTES_A_TOKEN >= 50, "what stands in the place of an output is shorter");
