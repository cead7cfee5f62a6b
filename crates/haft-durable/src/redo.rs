use haft_core::{Origin, ToolSpec};
use haft_tools_core::Selector;

/// Says which tools may take effect again when nobody can tell whether they did, because a worker died.
///
/// A tool that is not among them takes effect at most once in a round: the model is told that the call was lost, and to look
/// before it repeats it. By default those tools are among them that come with haft or that the host wrote, and that are hinted
/// to change nothing or to be idempotent. Hints of others, such as servers, are not taken at their word: a host that knows
/// better, or whose tools pass an [`EffectKey`](crate::EffectKey) on, names them.
///
/// ```
/// use haft_core::{Origin, Schema, ToolHints, ToolSpec};
/// use haft_durable::Redo;
///
/// let hints = ToolHints { read_only: true, ..ToolHints::default() };
/// let mine = ToolSpec::new("look".parse()?, "Looks.", Schema::empty()).with_hints(hints);
/// let theirs = mine.clone().with_origin(Origin::Mcp { server: "shop".into(), tool: "look".into() });
/// assert!(Redo::by_hints().may(&mine) && !Redo::by_hints().may(&theirs));
/// assert!(Redo::by_hints().and("@shop".parse()?).may(&theirs));
/// assert!(!Redo::nothing().may(&mine));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Redo {
    by_hints: bool,
    named: Vec<Selector>,
}

impl Redo {
    /// As the tools of haft and of the host are hinted; the default.
    pub fn by_hints() -> Self {
        Self { by_hints: true, named: Vec::new() }
    }

    /// No tool.
    pub fn nothing() -> Self {
        Self { by_hints: false, named: Vec::new() }
    }

    /// Also these tools, because doing it twice is doing it once or because they pass the effect's key on.
    pub fn and(mut self, tools: Selector) -> Self {
        self.named.push(tools);
        self
    }

    /// Tells whether a tool may take effect again.
    pub fn may(&self, tool: &ToolSpec) -> bool {
        let is_own = matches!(tool.origin(), Origin::Builtin | Origin::Host);
        let hints = tool.hints();
        (self.by_hints && is_own && (hints.read_only || hints.idempotent))
            || self.named.iter().any(|tools| tools.matches(tool))
    }
}

impl Default for Redo {
    fn default() -> Self {
        Self::by_hints()
    }
}
