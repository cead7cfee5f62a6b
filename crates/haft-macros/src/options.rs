use crate::faults::Faults;
use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, Ident, LitStr, Path, Token};

/// How long a tool's name may be, as `haft_core::ToolName` has it.
const NAME_CHARACTERS: usize = 64;

const OPTIONS: &str = "the options are: accesses = …, name = \"…\", title = \"…\", description = …, exposure = …, crate = …, \
                       explicit, read_only, destructive, idempotent, open_world, streaming";

const NO_OPTION: &str = "options stand here by their names, such as `accesses = none`, with a comma between them; the model \
                         is told of the tool by the documentation of the function";

const NO_ACCESSES: &str = "say what a call of this tool touches, since that decides whether it may run: `accesses = none` if it \
                           only computes, or an expression of its arguments such as \
                           `accesses = Access::read(Resource::exact(FILE, path))`";

/// The hints, as `haft_core::ToolHints` has them.
const HINTS: [&str; 5] = ["read_only", "destructive", "idempotent", "open_world", "streaming"];

/// Holds what the attribute itself says.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) accesses: Option<Declared>,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    /// The name of the variant of `Exposure`.
    pub(crate) exposure: Option<&'static str>,
    pub(crate) explicit: bool,
    pub(crate) hints: Vec<Ident>,
    pub(crate) root: Option<Path>,
}

/// Says what a call touches.
pub(crate) enum Declared {
    Nothing,
    By(Box<Expr>),
}

impl Options {
    /// Reads what stands in the parentheses of the attribute.
    pub(crate) fn parse(attribute: TokenStream, faults: &mut Faults) -> Self {
        let mut options = Self::default();
        let mut seen = Vec::<Ident>::new();
        let read = |input: ParseStream<'_>| {
            while !input.is_empty() {
                let key =
                    input.call(Ident::parse_any).map_err(|error| syn::Error::new(error.span(), NO_OPTION))?;
                if seen.contains(&key) {
                    return Err(syn::Error::new(key.span(), format!("`{key}` is said twice; leave one out")));
                }
                options.read(&key, input)?;
                seen.push(key);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        let is_read = faults.take(read.parse2(attribute)).is_some();
        // What was not read may have been what is missed.
        if is_read && options.accesses.is_none() {
            faults.add(syn::Error::new(proc_macro2::Span::call_site(), NO_ACCESSES));
        }
        let hint = |name: &str| options.hints.iter().find(|hint| *hint == name);
        if let (Some(_), Some(destructive)) = (hint("read_only"), hint("destructive")) {
            let text = "a tool that changes nothing destroys nothing; leave `read_only` or `destructive` out";
            faults.at(destructive, text);
        }
        options
    }

    fn read(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "accesses" => self.accesses = Some(declared(value(key, "none", input)?)?),
            "name" => self.name = Some(checked_name(value(key, "\"count_words\"", input)?)?),
            "title" => self.title = Some(value(key, "\"Count words\"", input)?),
            "description" => self.description = Some(value(key, "\"Counts words.\"", input)?),
            "exposure" => self.exposure = Some(exposure(&value(key, "deferred", input)?)?),
            "crate" => self.root = Some(value(key, "haft_tools_core", input)?),
            "explicit" => self.explicit = true,
            hint if HINTS.contains(&hint) => self.hints.push(key.clone()),
            _ => return Err(syn::Error::new(key.span(), format!("there is no option `{key}`; {OPTIONS}"))),
        }
        if input.peek(Token![=]) {
            return Err(syn::Error::new(
                key.span(),
                format!("`{key}` has no value; write `{key}`, or leave it out"),
            ));
        }
        Ok(())
    }
}

/// Reads what stands behind the name of an option.
fn value<T: syn::parse::Parse>(key: &Ident, example: &str, input: ParseStream<'_>) -> syn::Result<T> {
    let needed = format!("`{key}` needs a value: `{key} = {example}`");
    if !input.peek(Token![=]) || input.peek(Token![==]) || input.peek2(Token![,]) {
        return Err(syn::Error::new(key.span(), needed));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() {
        return Err(syn::Error::new(key.span(), needed));
    }
    input.parse().map_err(|error| syn::Error::new(error.span(), format!("{error}; {needed}")))
}

fn declared(expression: Expr) -> syn::Result<Declared> {
    match &expression {
        Expr::Path(path) if path.path.is_ident("none") => Ok(Declared::Nothing),
        Expr::Closure(closure) => Err(syn::Error::new_spanned(
            &closure.body,
            "write the expression alone, without `|…|`: the arguments and `scope` have their names in it",
        )),
        _ => Ok(Declared::By(Box::new(expression))),
    }
}

fn exposure(name: &Ident) -> syn::Result<&'static str> {
    match name.to_string().as_str() {
        "direct" => Ok("Direct"),
        "deferred" => Ok("Deferred"),
        "hidden" => Ok("Hidden"),
        _ => Err(syn::Error::new(name.span(), "a tool is exposed as `direct`, `deferred` or `hidden`")),
    }
}

fn checked_name(name: LitStr) -> syn::Result<LitStr> {
    if is_tool_name(&name.value()) {
        return Ok(name);
    }
    let text = format!(
        "a tool's name has 1 to {NAME_CHARACTERS} of the characters `A-Z`, `a-z`, `0-9`, `_` and `-`"
    );
    Err(syn::Error::new(name.span(), text))
}

/// Tells whether the text is a tool's name, by the rule of `haft_core::ToolName`.
pub(crate) fn is_tool_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=NAME_CHARACTERS).contains(&text.len()) && text.bytes().all(is_allowed)
}
