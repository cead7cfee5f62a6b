use crate::described::{description, is_documentation};
use crate::faults::Faults;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, FnArg, GenericArgument, Ident, Item, ItemFn, Meta, Pat, PatType, PathArguments,
    PathSegment, ReturnType, Safety, Type,
};

/// What may stand on an argument for this attribute to read; the compiler is not shown it.
const OURS: [&str; 5] = ["context", "default", "schemars", "serde", "state"];

const NOT_A_FUNCTION: &str =
    "`#[haft::tool]` stands on an async function: `async fn name(…) -> Result<…, ToolError>`";
const NO_METHOD: &str = "a tool is a function of its own; take what it needs as `#[state] state: &Type` in the place of \
                         `self`, and give it to the function that makes the tool";
const CONDITIONAL: &str = "an argument is there or not for every model; take `#[cfg]` away, or write two functions, each \
                           with a `#[cfg]` of its own";
const ONE_CONTEXT: &str = "a call has one context, which can be cloned; leave this argument out";

/// Holds what is told of the function that becomes a tool.
pub(crate) struct Function {
    /// The function without what this attribute reads.
    pub(crate) item: ItemFn,
    /// The description, if there is documentation.
    pub(crate) description: Option<TokenStream>,
    /// In the order in which the function takes them.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) output: Output,
}

pub(crate) enum Argument {
    /// Is given by the model.
    Input(Box<Input>),
    /// Is given when the tool is made.
    State { name: Ident, owned: Box<Type>, is_borrowed: bool },
    /// Is the call itself.
    Context { is_borrowed: bool },
}

/// Holds an argument that the model gives.
pub(crate) struct Input {
    pub(crate) name: Ident,
    pub(crate) owned: Type,
    pub(crate) description: Option<TokenStream>,
    /// Attributes for serde and schemars.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) default: Option<Default>,
}

/// Says what an argument is that is left out.
pub(crate) enum Default {
    OfType,
    Is(Box<Expr>),
}

/// Says what the function gives.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) is_raw: bool,
    pub(crate) can_fail: bool,
}

impl Function {
    /// Reads the item; what cannot be a tool is noted, and what is read of it is what the compiler can go on with.
    pub(crate) fn parse(item: TokenStream, is_described: bool, faults: &mut Faults) -> Option<Self> {
        let mut item = match faults.take(syn::parse2(item))? {
            Item::Fn(item) => item,
            other => {
                faults.at(other, NOT_A_FUNCTION);
                return None;
            }
        };
        check_signature(&item, faults);
        let described = description(&item.attrs);
        if described.is_none() && !is_described {
            faults.at(
                &item.sig.ident,
                "a model knows a tool by its documentation; write above the function what it does, as `/// Counts words.`",
            );
        }
        let mut arguments = Vec::<Argument>::new();
        for written in &mut item.sig.inputs {
            let Some(argument) = Argument::take(written, faults) else { continue };
            if argument.is_context() && arguments.iter().any(Argument::is_context) {
                faults.at(written, ONE_CONTEXT);
            }
            arguments.push(argument);
        }
        let output = Output::of(&item.sig.output);
        Some(Self { item, description: described, arguments, output })
    }
}

fn check_signature(item: &ItemFn, faults: &mut Faults) {
    let signature = &item.sig;
    if signature.asyncness.is_none() {
        let text = format!(
            "a tool is asynchronous, so that a call can be cancelled and others go on beside it; write `async fn {}`",
            signature.ident,
        );
        faults.at(signature.fn_token, text);
    }
    if !signature.generics.params.is_empty() {
        let text = "a tool has one schema; write the types it is for in the place of parameters";
        faults.at(&signature.generics, text);
    }
    if let Safety::Unsafe(word) = &signature.safety {
        faults.at(word, "a model cannot promise what `unsafe` asks for; write a safe function");
    }
    if let Some(abi) = &signature.abi {
        faults.at(abi, "a tool is called by haft alone; leave the calling convention out");
    }
}

impl Argument {
    fn is_context(&self) -> bool {
        matches!(self, Self::Context { .. })
    }

    /// Reads an argument and takes from it what the compiler is not to see.
    fn take(argument: &mut FnArg, faults: &mut Faults) -> Option<Self> {
        let argument = match argument {
            FnArg::Typed(argument) => argument,
            FnArg::Receiver(receiver) => {
                faults.at(receiver, NO_METHOD);
                return None;
            }
        };
        let (ours, others): (Vec<Attribute>, Vec<Attribute>) =
            std::mem::take(&mut argument.attrs).into_iter().partition(|attribute| {
                is_documentation(attribute) || OURS.iter().any(|name| attribute.path().is_ident(name))
            });
        for attribute in &others {
            if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
                faults.at(attribute, CONDITIONAL);
            }
        }
        argument.attrs = others;
        let marked = |mark: &str| ours.iter().find(|attribute| attribute.path().is_ident(mark));
        if let Some(mark) = marked("state") {
            check_mark(mark, &ours, faults);
            state(argument, faults)
        } else if let Some(mark) = marked("context") {
            check_mark(mark, &ours, faults);
            Some(Self::Context { is_borrowed: matches!(*argument.ty, Type::Reference(_)) })
        } else if is_context(&argument.ty) {
            Some(Self::Context { is_borrowed: matches!(*argument.ty, Type::Reference(_)) })
        } else {
            input(argument, ours, faults).map(|input| Self::Input(Box::new(input)))
        }
    }
}

/// Checks that what the model does not give is not described like what it gives.
fn check_mark(mark: &Attribute, ours: &[Attribute], faults: &mut Faults) {
    if !matches!(mark.meta, Meta::Path(_)) {
        faults.at(mark, format!("write `#[{}]` alone", mark.path().to_token_stream()));
    }
    let is_other =
        |other: &&Attribute| !is_documentation(other) && other.path().get_ident() != mark.path().get_ident();
    if let Some(other) = ours.iter().find(is_other) {
        let text = "the model does not give this argument; leave the attribute out, or the mark beside it";
        faults.at(other, text);
    }
}

fn state(argument: &PatType, faults: &mut Faults) -> Option<Argument> {
    let name = name_of(argument, faults)?;
    let (owned, is_borrowed) = match &*argument.ty {
        Type::Reference(reference) => {
            if let Some(mutability) = &reference.mutability {
                let text = "calls overlap, so the state is shared; borrow it without `mut`, and put what changes into a `Mutex`";
                faults.at(mutability, text);
            }
            ((*reference.elem).clone(), true)
        }
        other => (other.clone(), false),
    };
    if is_unsized(&owned) {
        let owned = owned.to_token_stream();
        let text =
            format!("the tool holds its state, so it needs a size; write `#[state] {name}: Arc<{owned}>`");
        faults.at(&argument.ty, text);
    }
    Some(Argument::State { name, owned: Box::new(owned), is_borrowed })
}

fn input(argument: &PatType, ours: Vec<Attribute>, faults: &mut Faults) -> Option<Input> {
    let name = name_of(argument, faults)?;
    match &*argument.ty {
        Type::Reference(reference) => {
            let text = format!(
                "what the model gives is read from JSON, and no part of it can be borrowed; write `{}`, or mark what is \
                 given to the tool with `#[state]`",
                owned_of(&reference.elem),
            );
            faults.at(reference, text);
        }
        Type::ImplTrait(written) => {
            faults.at(written, "a tool has one schema; write the type it is for");
        }
        _ => {}
    }
    let description = description(&ours);
    if description.is_none() && !ours.iter().any(has_description) {
        let text = format!(
            "a model knows an argument by its documentation; write above `{name}` what it is, as `/// The text to count.`"
        );
        faults.at(&argument.pat, text);
    }
    let mut defaults = ours.iter().filter(|attribute| attribute.path().is_ident("default"));
    let default = defaults.next().and_then(|attribute| faults.take(default_of(attribute)));
    if let Some(second) = defaults.next() {
        faults.at(second, "an argument that is left out is one thing; leave one default out");
    }
    let is_passed_on =
        |attribute: &Attribute| !is_documentation(attribute) && !attribute.path().is_ident("default");
    let attributes = ours.into_iter().filter(is_passed_on).collect();
    Some(Input { name, owned: (*argument.ty).clone(), description, attributes, default })
}

fn name_of(argument: &PatType, faults: &mut Faults) -> Option<Ident> {
    match &*argument.pat {
        Pat::Ident(named) if named.by_ref.is_none() && named.subpat.is_none() => Some(named.ident.clone()),
        other => {
            let text = "an argument goes by its name; write one in the place of the pattern, and take it apart in the function";
            faults.at(other, text);
            None
        }
    }
}

fn default_of(attribute: &Attribute) -> syn::Result<Default> {
    match &attribute.meta {
        Meta::Path(_) => Ok(Default::OfType),
        Meta::List(list) if list.tokens.is_empty() => Err(syn::Error::new_spanned(
            attribute,
            "write `#[default]` for what its type has, or `#[default(value)]`",
        )),
        Meta::List(list) => list.parse_args().map(|expression| Default::Is(Box::new(expression))),
        Meta::NameValue(pair) => Err(syn::Error::new_spanned(
            attribute,
            format!("write `#[default({})]`", pair.value.to_token_stream()),
        )),
    }
}

/// Tells whether schemars is given a description.
fn has_description(attribute: &Attribute) -> bool {
    let described = |settings: Punctuated<Meta, syn::Token![,]>| {
        settings.iter().any(|setting| setting.path().is_ident("description"))
    };
    attribute.path().is_ident("schemars")
        && attribute.parse_args_with(Punctuated::parse_terminated).is_ok_and(described)
}

fn is_context(written: &Type) -> bool {
    match written {
        Type::Reference(reference) => reference.mutability.is_none() && is_context(&reference.elem),
        other => last_segment(other).is_some_and(|segment| segment.ident == "CallContext"),
    }
}

fn is_unsized(written: &Type) -> bool {
    let is_text = |segment: &PathSegment| segment.ident == "str" || segment.ident == "Path";
    matches!(written, Type::Slice(_) | Type::TraitObject(_)) || last_segment(written).is_some_and(is_text)
}

/// Names the type that holds what is borrowed.
fn owned_of(borrowed: &Type) -> String {
    let named = |name: &str| last_segment(borrowed).is_some_and(|segment| segment.ident == name);
    match borrowed {
        Type::Slice(slice) => format!("Vec<{}>", slice.elem.to_token_stream()),
        _ if named("str") => "String".to_owned(),
        _ if named("Path") => "PathBuf".to_owned(),
        other => other.to_token_stream().to_string(),
    }
}

fn last_segment(written: &Type) -> Option<&PathSegment> {
    match written {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

impl Output {
    fn of(written: &ReturnType) -> Self {
        let ReturnType::Type(_, written) = written else { return Self { is_raw: false, can_fail: false } };
        let given = given_by_result(written);
        let is_raw =
            last_segment(given.unwrap_or(written)).is_some_and(|segment| segment.ident == "ToolOutput");
        Self { is_raw, can_fail: given.is_some() }
    }
}

/// Finds the type that a `Result` holds if nothing failed.
fn given_by_result(written: &Type) -> Option<&Type> {
    let result = last_segment(written).filter(|segment| segment.ident == "Result")?;
    let PathArguments::AngleBracketed(types) = &result.arguments else { return None };
    types.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(given) => Some(given),
        _ => None,
    })
}

/// Writes the attributes of the function that hold for the one that makes the tool, too.
pub(crate) fn shared_attributes(item: &ItemFn) -> TokenStream {
    let is_hidden = |attribute: &&Attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    };
    let is_shared = |attribute: &&Attribute| {
        attribute.path().is_ident("cfg") || attribute.path().is_ident("deprecated") || is_hidden(attribute)
    };
    let shared = item.attrs.iter().filter(is_shared);
    quote!(#(#shared)*)
}
