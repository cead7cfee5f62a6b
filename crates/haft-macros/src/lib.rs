//! The attribute that makes a tool of an async function.
//!
//! Use it as `haft::tool`, with the feature `macros` of the crate `haft`; it is described there with examples. A crate that
//! depends on `haft-tools-core` instead takes this one too, and says so: `#[haft_macros::tool(crate = haft_tools_core, …)]`.
//!
//! What is written in the place of the function is the function itself, without what is said of its arguments, and a
//! function that makes the tool by `tool_fn`. What it is made of comes from the crate named by `crate`, so that a user needs
//! neither serde nor schemars for it, and whatever a module calls `Result` or `String` is not in the way.

mod described;
mod expand;
mod faults;
mod function;
mod options;

use proc_macro::TokenStream;

/// Writes, beside the async function `NAME`, the function `NAME_tool` that makes the tool of it.
///
/// The function itself stays what it is: other code calls it, and so do its tests. `NAME_tool` takes what is marked
/// `#[state]` and gives an `impl Tool + Debug`, as visible as the function.
///
/// **The function.** Its documentation is what the model is told of the tool, up to a heading that rustdoc gives a meaning:
/// `# Errors`, `# Panics`, `# Safety`, `# Examples` or `# Cancel safety`. It gives a value or a `Result` whose error is a
/// `ToolError` or can be turned into one. A string becomes text, an object JSON with a schema, anything else JSON, and a
/// `ToolOutput` stays as it is. A type is taken for a `Result` or a `ToolOutput` by its name.
///
/// **Its arguments** become the properties of the schema, each described by its own documentation:
///
/// | on an argument | what it does |
/// | --- | --- |
/// | `name: Option<T>` | The argument may be left out. |
/// | `#[default]`, `#[default(expression)]` | It may be left out too, and is this then; the model is told. |
/// | `#[serde(…)]`, `#[schemars(…)]` | As on a field, such as `#[schemars(range(min = 1, max = 100))]`. |
/// | `cx: CallContext`, `cx: &CallContext` | The call itself; `#[context]` marks one whose type has another name. |
/// | `#[state] db: &Db` | No argument for the model: `NAME_tool(db)` takes the `Db` and each call borrows it. |
/// | `#[state] db: Db` | The same, cloned for each call: an `Arc`, or a handle that is cheap to clone. |
///
/// **The options** are written in the attribute. Only the first must be there:
///
/// | option | what it does |
/// | --- | --- |
/// | `accesses = none` | Declares that a call touches nothing outside its own memory. |
/// | `accesses = expression` | Declares what a call touches: `Access`, an array or `Vec` of them, or `Accesses`. |
/// | `name = "…"` | Names the tool towards the model; the function's name otherwise. |
/// | `title = "…"` | Names the tool towards people. |
/// | `description = expression` | Describes the tool in the place of the documentation. |
/// | `read_only`, `destructive`, `idempotent`, `open_world`, `streaming` | Hints, which inform and permit nothing. |
/// | `explicit` | Keeps the tool outside wildcards. |
/// | `exposure = deferred` | Has the model find the tool by searching; `hidden` keeps it from the model. |
/// | `crate = path` | Where haft is found, if it is not `::haft`: a renamed dependency, or `haft_tools_core`. |
///
/// The expression of `accesses` is computed for each call before it is decided. In it, the arguments and what is marked
/// `#[state]` have their names and are borrowed, `scope` is the call's `CallScope`, and `?` refuses the call with a
/// `ToolError`. It must declare what is resolved: there is no pattern to write in its place, since a path that is put into a
/// text is neither resolved nor kept within a directory.
///
/// How long a call may take and how large its reply may be are the executor's limits, for all tools and for single ones.
///
/// Use it as `haft::tool`, where longer examples are compiled and run:
///
/// ```text
/// use haft::{ToolError, ToolRegistry};
///
/// /// Counts the words of a text.
/// #[haft::tool(accesses = none, read_only)]
/// async fn count_words(
///     /// The text to count.
///     text: String,
/// ) -> Result<usize, ToolError> {
///     Ok(text.split_whitespace().count())
/// }
///
/// let registry = ToolRegistry::new().with(count_words_tool())?;
/// assert_eq!(registry.names().collect::<Vec<_>>(), ["count_words"]);
/// ```
///
/// # Errors
///
/// What is missing or cannot be is told by an error of the compiler at its place, which says what to write: a tool without
/// `accesses`, a function or an argument without documentation, which a model could not use, and functions that are not
/// async, are generic, or take `self`, patterns or borrowed arguments.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into()).into()
}
