use crate::tally_line::delta_of;
use crate::tally_service;
use async_trait::async_trait;
use futures_util::stream;
use haft::core::{Content, Message};
use haft::model::{Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest};
use std::fmt::Write as _;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex, split};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How many bytes lie between the two ends of a pipe.
const PIPE: usize = 1024;

/// Asks a model by lines of text.
///
/// A request is a line `tool NAME` for each tool, the messages as `person`, `model` and `reply` lines, and an empty line. The
/// answer is read by [`delta_of`].
pub(crate) struct TallyModel(ModelCapabilities);

/// Is an answer that is being read.
struct Answer {
    lines: Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    cancel: CancellationToken,
    /// The service, which ends when nobody reads its answer any more.
    _service: AbortOnDropHandle<()>,
}

impl TallyModel {
    pub(crate) fn new(name: &str) -> Self {
        Self(ModelCapabilities::new(name).reasoning())
    }
}

#[async_trait]
impl Model for TallyModel {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.0
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<DeltaStream, ModelError> {
        // A real one would connect here, and say `ModelError::unavailable` if it cannot.
        let (here, there) = duplex(PIPE);
        let service = AbortOnDropHandle::new(tokio::spawn(tally_service::serve(there)));
        let (reader, mut writer) = split(here);
        writer.write_all(written(&request).as_bytes()).await.map_err(ModelError::unavailable)?;
        let answer = Answer { lines: BufReader::new(reader).lines(), cancel, _service: service };
        Ok(DeltaStream::new(stream::try_unfold(Some(answer), next)))
    }
}

/// Reads the next delta; the answer is over with its stop, and with nothing else.
async fn next(answer: Option<Answer>) -> Result<Option<(Delta, Option<Answer>)>, ModelError> {
    let Some(mut answer) = answer else { return Ok(None) };
    let line = tokio::select! {
        biased;
        () = answer.cancel.cancelled() => return Err(ModelError::Cancelled),
        line = answer.lines.next_line() => line.map_err(ModelError::unavailable)?,
    };
    // Half a turn is no turn: who acted on it would do what the model never asked for.
    let delta = delta_of(&line.ok_or(ModelError::Truncated)?)?;
    let rest = (!matches!(delta, Delta::Stop(_))).then_some(answer);
    Ok(Some((delta, rest)))
}

/// Writes a request; what a person or a tool says is quoted, so that it cannot look like another line.
fn written(request: &ModelRequest) -> String {
    let mut lines = String::new();
    // This service has no word for tools that stay and are not to be called.
    for tool in request.tools.iter().filter(|_| !request.without_calls) {
        let _ = writeln!(lines, "tool {}", tool.name());
    }
    for message in request.messages.iter() {
        let _ = match &**message {
            Message::Assistant { .. } => writeln!(lines, "model {:?}", message.assistant_text()),
            Message::Tool { replies } => {
                replies.iter().try_for_each(|reply| writeln!(lines, "reply {:?}", reply.output.to_text()))
            }
            Message::User { content } => {
                // This model reads text; what else it is sent must not be lost unsaid.
                let text = content.iter().map(|part| match part {
                    Content::Text { text } => text.as_str(),
                    _ => "[not shown, since this model reads text only]",
                });
                writeln!(lines, "person {:?}", text.collect::<Vec<_>>().join("\n"))
            }
            _ => writeln!(lines, "person \"[a message of a kind that this model cannot read]\""),
        };
    }
    lines.push('\n');
    lines
}
