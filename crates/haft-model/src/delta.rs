use haft_core::{CallId, StopReason, Usage};
use serde_json::Value;

/// Carries one piece of a turn while the model writes it.
///
/// The rules of a stream, which [`assemble`](crate::assemble) enforces:
///
/// - The pieces of one call carry its `index`, any number no other call of the turn has. Its start comes before its
///   arguments; pieces of several calls may be mixed.
/// - `Stop` comes exactly once and last. An adapter whose provider reports the usage after the reason to stop holds
///   the reason back until then.
/// - A turn that makes calls stops for [`StopReason::ToolCalls`] and one without does not, whatever word the provider
///   has for it; one that was cut off ([`StopReason::MaxTokens`], [`StopReason::Refused`]) may have calls or none.
///
/// ```
/// use haft_core::StopReason;
/// use haft_model::{Assembler, Delta};
/// use serde_json::json;
///
/// let deltas = [
///     Delta::ToolCallStart { index: 0, id: "c1".parse()?, name: "read_file".to_owned() },
///     Delta::ToolCallArguments { index: 0, fragment: r#"{"path": "#.to_owned() },
///     Delta::ToolCallArguments { index: 0, fragment: r#""a.txt"}"#.to_owned() },
///     Delta::Stop(StopReason::ToolCalls),
/// ];
/// let mut assembler = Assembler::new();
/// for delta in deltas {
///     assembler.push(delta)?;
/// }
/// let turn = assembler.finish()?;
/// let calls: Vec<_> = turn.message.tool_calls().collect();
/// assert_eq!(calls[0].input, json!({ "path": "a.txt" }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// Text for the person goes on.
    Text(String),
    /// Reasoning goes on.
    Reasoning {
        /// What can be read of it.
        text: String,
        /// What the provider wants back word for word, of at most 100 levels; null where there is none.
        ///
        /// It ends the block of reasoning it belongs to: what comes after it starts another one.
        provider_data: Value,
    },
    /// A call begins.
    ToolCallStart {
        /// Tells the calls of this turn apart.
        index: u32,
        /// The identifier the reply will repeat.
        id: CallId,
        /// The tool's name as the model wrote it.
        name: String,
    },
    /// The arguments of a call go on.
    ToolCallArguments {
        /// The call they belong to.
        index: u32,
        /// The next piece of their JSON text.
        fragment: String,
    },
    /// What the turn has cost so far, in full: a later one takes the place of an earlier one.
    Usage(Usage),
    /// The turn is over.
    Stop(StopReason),
}
