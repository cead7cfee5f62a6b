use crate::faults::Faults;
use crate::function::{Argument, Default, Function, Input, Output, shared_attributes};
use crate::options::{Declared, Options, is_tool_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, Lit};

/// Writes the function and the one that makes a tool of it, or what is wrong with them.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut faults = Faults::default();
    let options = Options::parse(attribute, &mut faults);
    let function = Function::parse(item, options.description.is_some(), &mut faults);
    let Some(function) = function else { return faults.to_compile_error().unwrap_or_default() };
    let name = tool_name(&options, &function, &mut faults);
    let item = &function.item;
    let second = match faults.to_compile_error() {
        // The function stays, so that what uses it is no error, too.
        Some(error) => error,
        None => maker(&options, &function, &name),
    };
    quote! {
        #[allow(clippy::too_many_arguments, clippy::unused_async, reason = "a tool is async, and takes what a model says")]
        #item
        #second
    }
}

fn tool_name(options: &Options, function: &Function, faults: &mut Faults) -> String {
    if let Some(name) = &options.name {
        return name.value();
    }
    let ident = &function.item.sig.ident;
    let name = ident.unraw().to_string();
    if !is_tool_name(&name) {
        let text = "no model can be told of a tool by this name; give it another with `name = \"…\"`, of at most 64 of the \
                    characters `A-Z`, `a-z`, `0-9`, `_` and `-`";
        faults.at(ident, text);
    }
    name
}

/// Writes the function that makes the tool.
///
/// Names of its own are of the place of the macro where they are variables, so that none meets one of the user's.
fn maker(options: &Options, function: &Function, name: &str) -> TokenStream {
    let place = Span::mixed_site();
    let root = options.root.as_ref().map_or_else(|| quote!(::haft), ToTokens::to_token_stream);
    let parts = quote!(#root::__private);
    let item = &function.item;
    let (visibility, ident) = (&item.vis, &item.sig.ident);
    let made_by = format_ident!("{}_tool", ident.unraw(), span = ident.span());
    let shared = shared_attributes(item);
    let documentation = format!("Makes the tool `{name}` of the function `{ident}`.");
    let description = match &options.description {
        Some(expression) => quote!(#expression),
        None => function.description.clone().unwrap_or_default(),
    };

    let states: Vec<(&Ident, &syn::Type)> = function.arguments.iter().filter_map(state_of).collect();
    let (state_names, state_types): (Vec<_>, Vec<_>) = states.into_iter().unzip();
    let inputs: Vec<&Input> = function.arguments.iter().filter_map(input_of).collect();
    let input_names: Vec<&Ident> = inputs.iter().map(|input| &input.name).collect();
    let arguments = arguments(&parts, &inputs);
    // The user's expression names it.
    let scope = Ident::new("scope", Span::call_site());
    let accesses = match &options.accesses {
        Some(Declared::By(expression)) => quote_spanned! {expression.span().resolved_at(place)=>
            ::core::convert::Into::<#parts::Accesses>::into(#expression)
        },
        Some(Declared::Nothing) | None => quote!(#parts::Accesses::none()),
    };
    let call = call(&parts, function);
    let spec = specified(&parts, options);

    quote_spanned! {place=>
        #shared
        #[doc = #documentation]
        #visibility fn #made_by(#(#state_names: #state_types),*) -> impl #parts::Tool + ::core::fmt::Debug {
            #arguments

            struct __State {
                #(#state_names: #state_types,)*
            }

            struct __Accesses(::std::sync::Arc<__State>);

            impl #parts::DeclareAccesses<__Arguments> for __Accesses {
                #[allow(unused_variables, clippy::needless_question_mark, reason = "an expression need not name all")]
                fn declare(
                    &self,
                    arguments: &__Arguments,
                    #scope: &#parts::CallScope,
                ) -> ::core::result::Result<#parts::Accesses, #parts::haft_core::ToolError> {
                    let __State { #(#state_names),* } = &*self.0;
                    let __Arguments { #(#input_names),* } = arguments;
                    ::core::result::Result::Ok(#accesses)
                }
            }

            let state = ::std::sync::Arc::new(__State { #(#state_names),* });
            let accesses = __Accesses(::std::sync::Arc::clone(&state));
            let run = move |arguments: __Arguments, context: #parts::CallContext| {
                let state = ::std::sync::Arc::clone(&state);
                async move {
                    let __Arguments { #(#input_names),* } = arguments;
                    #call
                }
            };
            #parts::named_tool(#name, #description, |spec| #spec, accesses, run)
        }
    }
}

fn state_of(argument: &Argument) -> Option<(&Ident, &syn::Type)> {
    match argument {
        Argument::State { name, owned, .. } => Some((name, owned)),
        _ => None,
    }
}

fn input_of(argument: &Argument) -> Option<&Input> {
    match argument {
        Argument::Input(input) => Some(input),
        _ => None,
    }
}

/// Writes the type that the model's arguments are read into.
fn arguments(parts: &TokenStream, inputs: &[&Input]) -> TokenStream {
    let place = Span::mixed_site();
    let serde = quote!(#parts::serde).to_string();
    let schemars = quote!(#parts::schemars).to_string();
    let (mut fields, mut defaults) = (Vec::new(), Vec::new());
    for Input { name, owned, description, attributes, default } in inputs {
        let documentation = description.as_ref().map(|text| quote_spanned!(place=> #[doc = #text]));
        let default = default.as_ref().map(|default| match default {
            Default::OfType => quote_spanned!(place=> #[serde(default)]),
            Default::Is(expression) => {
                let by = format_ident!("__default_{}", name.unraw(), span = place);
                let value = converted(expression);
                defaults.push(quote_spanned!(place=> fn #by() -> #owned { #value }));
                let by = by.to_string();
                quote_spanned!(place=> #[serde(default = #by)])
            }
        });
        fields.push(quote_spanned!(place=> #documentation #default #(#attributes)* #name: #owned));
    }
    quote_spanned! {place=>
        #(#defaults)*

        #[derive(#parts::serde::Deserialize, #parts::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        struct __Arguments {
            #(#fields,)*
        }
    }
}

/// Lets a text be the default of a `String`.
fn converted(expression: &Expr) -> TokenStream {
    match expression {
        Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)) => {
            quote_spanned!(literal.span().resolved_at(Span::mixed_site())=> ::core::convert::Into::into(#literal))
        }
        other => quote!(#other),
    }
}

/// Writes the call of the function, and what becomes of what it gives.
fn call(parts: &TokenStream, function: &Function) -> TokenStream {
    let place = Span::mixed_site();
    let ident = &function.item.sig.ident;
    let given = function.arguments.iter().map(|argument| match argument {
        Argument::Input(input) => {
            let name = &input.name;
            quote!(#name)
        }
        Argument::State { name, is_borrowed: true, .. } => quote_spanned!(place=> &state.#name),
        Argument::State { name, is_borrowed: false, .. } => {
            quote_spanned!(place=> ::core::clone::Clone::clone(&state.#name))
        }
        Argument::Context { is_borrowed: true } => quote_spanned!(place=> &context),
        Argument::Context { is_borrowed: false } => quote_spanned!(place=> context),
    });
    let Output { is_raw, can_fail } = function.output;
    let result = if can_fail {
        // The error is turned here, where both types are known.
        quote_spanned!(place=> ::core::result::Result::map_err(output, |error| ::core::convert::Into::into(error)))
    } else {
        quote_spanned!(place=> ::core::result::Result::Ok(output))
    };
    let result = if is_raw {
        quote_spanned!(place=> ::core::result::Result::map(#result, #parts::RawOutput::from))
    } else {
        result
    };
    quote_spanned! {place=>
        #[allow(deprecated, reason = "what makes the tool of a deprecated function is deprecated itself")]
        let output = #ident(#(#given),*).await;
        let result: ::core::result::Result<_, #parts::haft_core::ToolError> = #result;
        result
    }
}

/// Writes the specification with what it says beyond the name, the description and the schemas.
fn specified(parts: &TokenStream, options: &Options) -> TokenStream {
    let mut spec = quote_spanned!(Span::mixed_site()=> spec);
    if let Some(title) = &options.title {
        spec.extend(quote!(.with_title(#title)));
    }
    if !options.hints.is_empty() {
        let hints = &options.hints;
        spec.extend(quote! {
            .with_hints(#parts::haft_core::ToolHints { #(#hints: true,)* ..::core::default::Default::default() })
        });
    }
    if let Some(exposure) = options.exposure {
        let exposure = format_ident!("{exposure}");
        spec.extend(quote!(.with_exposure(#parts::haft_core::Exposure::#exposure)));
    }
    if options.explicit {
        spec.extend(quote!(.explicit_only()));
    }
    spec
}
