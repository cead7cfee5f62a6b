use super::{BYTES_A_TOKEN, CompactError, Compaction, Context, Told, estimate};
use async_trait::async_trait;
use haft_core::{Content, Message, OutputId, ToolOutput, ToolReply};
use haft_tools_core::{CallScope, OutputStore};
use std::fmt;
use std::sync::Arc;

/// Outputs of at most so many bytes are told whole: their handle would hardly be shorter.
const SMALL: usize = 400;

/// Tells old outputs of tools by their handles: what they were stays in an output store, and can be read there.
///
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
            let Some(output) = self.handle(scope, reply).await else { continue };
            let told = told_as(&output, bytes, reply);
            let whole = std::mem::take(&mut reply.output.content).into_iter().filter(|part| !is_text(part));
            reply.output = ToolOutput::new([Content::text(told)].into_iter().chain(whole).collect());
            is_cut = true;
        }
        is_cut.then_some(Message::Tool { replies })
    }

    /// Finds the output in the store, or puts it there.
    async fn handle(&self, scope: &CallScope, reply: &ToolReply) -> Option<OutputId> {
        let known = reply.truncation.as_ref().and_then(|truncation| truncation.output.clone());
        match known {
            Some(output) => Some(output),
            None => self.outputs.store(scope, &reply.call_id, reply.output.to_text()).await.ok(),
        }
    }
}

/// What is told in the place of the text of an output.
fn told_as(output: &OutputId, bytes: usize, reply: &ToolReply) -> String {
    let bytes = reply.truncation.as_ref().map_or(bytes as u64, |cut| cut.total_bytes);
    format!(
        "[{bytes} bytes of output are left out here, to make room: read_output gives them, with output \"{output}\"]"
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
    async fn compact(&self, context: Context<'_>) -> Result<Vec<Told>, CompactError> {
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
}

impl fmt::Debug for CutOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CutOutputs").field("keep", &self.keep).finish_non_exhaustive()
    }
}

const _: () = assert!(SMALL as u64 / BYTES_A_TOKEN >= 50, "what stands in the place of an output is shorter");
