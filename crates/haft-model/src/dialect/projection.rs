use serde_json::Value;
use std::fmt;

/// How many losses are listed one by one.
const LISTED_LOSSES: usize = 256;

/// Holds a schema as a provider takes it, and what was changed to get there.
///
/// ```
/// use haft_core::Schema;
/// use haft_model::Dialect;
/// use serde_json::json;
///
/// let age = json!({ "type": "integer", "minimum": 0 });
/// let schema = Schema::new(json!({ "type": "object", "properties": { "age": age } }))?;
/// let projection = Dialect::Anthropic.project(&schema)?;
/// assert_eq!(&projection.schema, schema.as_value());
/// assert!(projection.losses.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Projection {
    /// The schema in the provider's dialect.
    pub schema: Value,
    /// What it says otherwise than the original, or not at all; the first 256 changes, then how many more there are.
    pub losses: Vec<Loss>,
}

impl Projection {
    pub(super) fn new(schema: Value, losses: Losses) -> Self {
        Self { schema, losses: losses.into_list() }
    }
}

/// Tells what became of one place of a schema.
///
/// ```
/// use haft_core::Schema;
/// use haft_model::Dialect;
/// use serde_json::json;
///
/// let name = json!({ "type": "string", "minLength": 1 });
/// let schema = Schema::new(json!({
///     "type": "object", "properties": { "name": name }, "required": ["name"], "additionalProperties": false,
/// }))?;
/// let projection = Dialect::OpenAiStrict.project(&schema)?;
/// for loss in &projection.losses {
///     println!("{loss}");
/// }
/// assert_eq!(projection.losses[0].pointer, "/properties/name/minLength");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The place in the original schema, as a JSON pointer; at most 1,024 bytes of it.
    pub pointer: String,
    /// What became of it.
    pub kind: LossKind,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            LossKind::Unlisted(_) => write!(f, "{}", self.kind),
            _ => write!(f, "{}: {}", Location(&self.pointer), self.kind),
        }
    }
}

/// Says what became of a part of a schema that a dialect does not have.
///
/// ```
/// use haft_model::LossKind;
///
/// assert_eq!(LossKind::Dropped.to_string(), "left out");
/// assert_eq!(LossKind::Unlisted(7).to_string(), "7 further changes");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum LossKind {
    /// It is left out; the validator still enforces it.
    #[error("left out")]
    Dropped,
    /// It is left out, and the description says it instead.
    #[error("moved into the description")]
    Described,
    /// It is said with another keyword that allows more.
    #[error("said in a wider form")]
    Widened,
    /// It took any type, and is shown as taking only some: those that its keywords speak of, or the common ones.
    #[error("shown with fewer types")]
    Typed,
    /// It was open for further properties, and is shown as taking only those it lists.
    #[error("shown without further properties")]
    Closed,
    /// What is inside is shown as any value: it repeats itself, is nested too deep or is too large.
    #[error("cut: it repeats itself, is nested too deep or is too large")]
    Cut,
    /// The reference leads nowhere inside the schema.
    #[error("the reference leads nowhere")]
    Unresolved,
    /// The keyword's value is not of the form that the keyword has.
    #[error("left out, since it is malformed")]
    Malformed,
    /// More was changed than is listed.
    #[error("{0} further changes")]
    Unlisted(usize),
}

/// Says why a schema cannot be had in the strict dialect.
///
/// ```
/// use haft_core::Schema;
/// use haft_model::Dialect;
/// use serde_json::json;
///
/// let schema = Schema::new(json!({ "type": "object", "properties": { "any": {} } }))?;
/// let refused = Dialect::OpenAiStrict.project(&schema).unwrap_err();
/// println!("{refused}; it is sent as it is");
/// assert!(Dialect::OpenAi.project(&schema).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be strict: {} {reason}", Location(pointer))]
#[non_exhaustive]
pub struct NotStrictError {
    /// The place in the original schema, as a JSON pointer; at most 1,024 bytes of it.
    pub pointer: String,
    /// What there is that the dialect cannot say.
    pub reason: NotStrictReason,
}

/// Names what the strict dialect cannot say.
///
/// ```
/// use haft_core::Schema;
/// use haft_model::{Dialect, NotStrictReason};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "additionalProperties": { "type": "string" } });
/// let refused = Dialect::OpenAiStrict.project(&Schema::new(schema)?).unwrap_err();
/// assert_eq!(refused.reason, NotStrictReason::FreeProperties);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum NotStrictReason {
    /// An object takes properties that it does not list.
    #[error("takes properties of any name")]
    FreeProperties,
    /// An object requires a property that it does not list.
    #[error("requires a property that it does not describe")]
    UndescribedProperty,
    /// A value can be of any type, such as an array whose items are not described.
    #[error("takes values of any type")]
    AnyValue,
    /// No value at all fits.
    #[error("takes no value")]
    NoValue,
    /// The top level is a choice between alternatives.
    #[error("is a choice between alternatives")]
    TopLevelChoice,
    /// Schemas that must hold together cannot be joined into one.
    #[error("combines schemas that cannot be joined into one")]
    Unjoinable,
    /// A reference leads nowhere inside the schema.
    #[error("is a reference that leads nowhere")]
    Unresolved,
    /// A list of permitted values holds an array or an object.
    #[error("permits only certain arrays or objects")]
    StructuredConstant,
    /// Something is over one of the dialect's limits.
    #[error("exceeds the limit of {limit} {what}")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

struct Location<'a>(&'a str);

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("the top level"),
            // A name may hold what would disturb a terminal.
            pointer => {
                let visible: String = pointer
                    .chars()
                    .flat_map(
                        |char| if char.is_control() { char.escape_default().collect() } else { vec![char] },
                    )
                    .collect();
                write!(f, "`{visible}`")
            }
        }
    }
}

/// Gathers losses, each place and kind once, and counts those over the limit.
#[derive(Debug, Default)]
pub(super) struct Losses {
    listed: Vec<Loss>,
    unlisted: usize,
}

impl Losses {
    pub(super) fn add(&mut self, pointer: impl FnOnce() -> String, kind: LossKind) {
        if self.listed.len() == LISTED_LOSSES {
            self.unlisted += 1;
            return;
        }
        let loss = Loss { pointer: pointer(), kind };
        if !self.listed.contains(&loss) {
            self.listed.push(loss);
        }
    }

    fn into_list(self) -> Vec<Loss> {
        let Self { mut listed, unlisted } = self;
        if unlisted > 0 {
            listed.push(Loss { pointer: String::new(), kind: LossKind::Unlisted(unlisted) });
        }
        listed
    }
}
