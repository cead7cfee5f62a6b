/// Says what a model can take and give.
///
/// `new` claims nothing but a name; every setter adds one claim.
///
/// ```
/// use haft_model::ModelCapabilities;
///
/// let capabilities = ModelCapabilities::new("claude-sonnet-4-5").images().context_window(200_000);
/// assert!(capabilities.images);
/// assert!(!capabilities.reasoning);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ModelCapabilities {
    /// The model's name, as its provider writes it.
    pub name: String,
    /// It can make several calls in one turn.
    pub parallel_tool_calls: bool,
    /// It can read images.
    pub images: bool,
    /// It writes reasoning apart from its text.
    pub reasoning: bool,
    /// How much a request and its answer may hold together, in tokens, where known.
    pub context_window: Option<u64>,
}

impl ModelCapabilities {
    /// Describes a model that claims nothing but its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            parallel_tool_calls: false,
            images: false,
            reasoning: false,
            context_window: None,
        }
    }

    /// Says that it can make several calls in one turn.
    pub fn parallel_tool_calls(mut self) -> Self {
        self.parallel_tool_calls = true;
        self
    }

    /// Says that it can read images.
    pub fn images(mut self) -> Self {
        self.images = true;
        self
    }

    /// Says that it writes reasoning apart from its text.
    pub fn reasoning(mut self) -> Self {
        self.reasoning = true;
        self
    }

    /// Says how much a request and its answer may hold together, in tokens.
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }
}
