use crate::{Accesses, CallContext, CallScope, LayerAnswer};
use async_trait::async_trait;
use haft_core::{ToolCall, ToolOutput, ToolSpec};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Wraps the running of calls: sees each before and after, and may change what goes in and what comes out.
///
/// Layers stand around the run stage alone. A call that reaches them has been validated, prepared and permitted, and a
/// layer that gives it another input sends it through those stages again: no layer can make a call run that the policy
/// does not let run. The first layer is the outermost: its [`before`](Self::before) comes first and its
/// [`after`](Self::after) last.
///
/// A call with another input is shown to all layers again, from the first on, save to the one that made that input: so
/// no input runs that a layer has not seen or made, wherever a layer that guards stands. `before` may therefore come
/// more than once for a call, and a layer should let an input be that already is as it wants it: after 8 replacements a
/// call is refused. A layer that gives the same input back has not replaced it. `after` comes once for each layer whose
/// `before` let the call go on at least once, however the call ends, unless its batch is dropped or the call is left to
/// wait for a person.
///
/// A call that goes on after such a wait is shown to the layers again in the same way. If they are not those that it was
/// shown to before, by their [names](Self::name), it is as if none had seen it.
///
/// A layer that panics, or takes longer than its [`time`](Self::time), has the call refused in `before`; in `after` it
/// has the output withheld, since it might have been there to take something out. When the call is cancelled, `before`
/// ends at once, and `after` has the grace of [`Limits`](crate::Limits) left.
///
/// Layers count for no width: `before` comes before a call has room to run, and `after` when it has given that back, so
/// all calls of a batch may be with a layer at once. One that uses something scarce bounds that itself. Calls that
/// conflict with one that is with a layer wait for it.
///
/// The four callbacks that older libraries have are its four methods: before and after execution, before an update
/// (which it may suppress) and after one.
///
/// ```
/// use async_trait::async_trait;
/// use haft_tools_core::{Before, Layer, LayerCall, LocalExecutor, ToolRegistry};
/// use serde_json::json;
///
/// /// Lets no call ask for more than ten of anything.
/// struct Ten;
///
/// #[async_trait]
/// impl Layer for Ten {
///     async fn before(&self, call: &LayerCall<'_>) -> Before {
///         let mut input = call.call.input.clone();
///         if !input["limit"].as_u64().is_some_and(|limit| limit > 10) {
///             return Before::proceed();
///         }
///         input["limit"] = json!(10);
///         Before::replace_input(input)
///     }
/// }
///
/// let executor = LocalExecutor::builder(ToolRegistry::new()).layer(Ten).build();
/// # let _ = executor;
/// ```
#[async_trait]
pub trait Layer: Send + Sync + 'static {
    /// Names the layer in the journal and in calls that wait for a person; by default its type's name, without the path.
    fn name(&self) -> &str {
        let name = std::any::type_name::<Self>();
        let path = name.find('<').map_or(name, |end| &name[..end]);
        path.rsplit("::").next().unwrap_or(path)
    }

    /// Says how long one `before`, and one `after`, may take; by default as long as a call.
    fn time(&self) -> LayerTime {
        LayerTime::default()
    }

    /// Looks at a call that is about to run.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe: it is dropped when the call is cancelled.
    async fn before(&self, call: &LayerCall<'_>) -> Before {
        let _ = call;
        Before::proceed()
    }

    /// Looks at what a call is answered with, before that is bounded and recorded.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe: it is dropped when it takes too long.
    async fn after(&self, call: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        let _ = call;
        answer
    }

    /// Looks at an update before anybody sees it; `None` suppresses it. Must not block.
    fn before_update(&self, cx: &CallContext, update: ToolOutput) -> Option<ToolOutput> {
        let _ = cx;
        Some(update)
    }

    /// Looks at an update that has been shown. Must not block.
    fn after_update(&self, cx: &CallContext, update: &ToolOutput) {
        let _ = (cx, update);
    }
}

#[async_trait]
impl<T: Layer + ?Sized> Layer for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn time(&self) -> LayerTime {
        (**self).time()
    }

    async fn before(&self, call: &LayerCall<'_>) -> Before {
        (**self).before(call).await
    }

    async fn after(&self, call: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        (**self).after(call, answer).await
    }

    fn before_update(&self, cx: &CallContext, update: ToolOutput) -> Option<ToolOutput> {
        (**self).before_update(cx, update)
    }

    fn after_update(&self, cx: &CallContext, update: &ToolOutput) {
        (**self).after_update(cx, update);
    }
}

/// Says how long a layer may look at a call each time.
///
/// ```
/// use async_trait::async_trait;
/// use haft_tools_core::{Layer, LayerTime};
/// use std::time::Duration;
///
/// /// Asks a service that can be slow.
/// struct Scan;
///
/// #[async_trait]
/// impl Layer for Scan {
///     fn time(&self) -> LayerTime {
///         LayerTime::AtMost(Duration::from_secs(2))
///     }
/// }
/// assert_eq!(Scan.time(), LayerTime::AtMost(Duration::from_secs(2)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum LayerTime {
    /// As long as a call may run whose tool asks for no time: [`Limits::timeout`](crate::Limits::timeout).
    #[default]
    AsCalls,
    /// This long.
    AtMost(Duration),
    /// As long as it takes: it bounds itself, and a call can always be cancelled.
    Own,
}

/// Shows a layer the call that runs.
///
/// ```
/// use haft_core::{Schema, ToolCall, ToolSpec};
/// use haft_tools_core::{Accesses, CallScope, LayerCall};
/// use serde_json::json;
///
/// let call = ToolCall::new("c1".parse()?, "glob", json!({ "pattern": "**" }));
/// let spec = ToolSpec::new("glob".parse()?, "Finds files.", Schema::empty());
/// let (scope, accesses) = (CallScope::new("run-1".parse()?), Accesses::none());
/// // What a layer is shown, for a test of one.
/// let shown = LayerCall::new(&call, &spec, &scope, &accesses);
/// assert_eq!((shown.call.input["pattern"].as_str(), shown.accesses.len()), (Some("**"), 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LayerCall<'a> {
    /// The call, with the very input that was decided.
    pub call: &'a ToolCall,
    /// The tool it is resolved to.
    pub spec: &'a ToolSpec,
    /// On whose behalf it is made.
    pub scope: &'a CallScope,
    /// What running it will touch.
    pub accesses: &'a Accesses,
}

impl<'a> LayerCall<'a> {
    /// Shows a call to a layer outside an executor, as a layer's own tests and a layer around another do.
    pub fn new(call: &'a ToolCall, spec: &'a ToolSpec, scope: &'a CallScope, accesses: &'a Accesses) -> Self {
        Self { call, spec, scope, accesses }
    }
}

/// Says what is to become of a call that a layer looked at.
///
/// ```
/// use async_trait::async_trait;
/// use haft_core::ToolOutput;
/// use haft_tools_core::{Before, Layer, LayerCall};
///
/// /// Answers calls of one tool itself.
/// struct Canned;
///
/// #[async_trait]
/// impl Layer for Canned {
///     async fn before(&self, call: &LayerCall<'_>) -> Before {
///         match call.call.name.as_str() {
///             "now" => Before::skip(ToolOutput::text("it is noon")),
///             _ => Before::proceed().with_context("the clock of this house is at noon"),
///         }
///     }
/// }
/// # let _ = Canned;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a layer's word counts only when it is given back"]
pub struct Before(pub(crate) Verdict);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    Proceed {
        /// Another input, which is validated, prepared and decided again.
        input: Option<Value>,
        /// What the model is told beside the output.
        context: Option<String>,
    },
    Skip(Box<LayerAnswer>),
}

impl Before {
    /// Lets the call go on as it is.
    pub fn proceed() -> Self {
        Self(Verdict::Proceed { input: None, context: None })
    }

    /// Lets the call go on with another input, once that is validated, prepared and decided.
    ///
    /// The reply reports it as a repair, so that the model knows what ran.
    pub fn replace_input(input: Value) -> Self {
        Self(Verdict::Proceed { input: Some(input), context: None })
    }

    /// Answers the call without running it; layers further in do not see it.
    pub fn skip(answer: impl Into<LayerAnswer>) -> Self {
        Self(Verdict::Skip(Box::new(answer.into())))
    }

    /// Tells the model something beside the output; bounded like the output, and without effect on a call that is
    /// skipped.
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        if let Verdict::Proceed { context, .. } = &mut self.0 {
            *context = Some(text.into());
        }
        self
    }
}
