use anyhow::Context as _;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprCall, ExprMethodCall, ImplItemFn, ItemFn, ItemMod, Lit, LitStr, Macro, Meta};

/// Who a message is for, and what it says.
type Message = (&'static str, String);

/// What a model reads.
const MODEL: &str = "model";
/// What a host reads of a library.
const HOST: &str = "host";
/// What a person reads of the command.
const PERSON: &str = "person";

/// Gives the messages of a file: those of its errors, of what is answered to models, and of mistakes on the command line.
pub(crate) fn messages(source: &str) -> anyhow::Result<Vec<Message>> {
    let mut collected = Collected::default();
    collected.visit_file(&syn::parse_file(source).context("it is not Rust")?);
    Ok(collected.messages)
}

#[derive(Debug, Default)]
struct Collected {
    messages: Vec<Message>,
    /// Whether what is visited is all said to a model.
    is_of_model: bool,
}

impl Collected {
    fn add(&mut self, reader: &'static str, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // What is only put in is said elsewhere.
        let said = text.split(['{', '}']).step_by(2).any(|part| part.chars().any(char::is_alphabetic));
        if said && text.contains(' ') {
            self.messages.push((reader, text));
        }
    }

    /// Adds what an expression writes, if that stands there.
    fn add_written(&mut self, reader: &'static str, expression: &Expr) {
        match expression {
            Expr::Lit(literal) => {
                if let Lit::Str(text) = &literal.lit {
                    self.add(reader, &text.value());
                }
            }
            Expr::Macro(made) if made.mac.path.is_ident("format") => self.add_format(reader, &made.mac),
            Expr::Reference(of) => self.add_written(reader, &of.expr),
            Expr::MethodCall(call) if ["to_owned", "into", "to_string"].contains(&name_of(call).as_str()) => {
                self.add_written(reader, &call.receiver);
            }
            Expr::Closure(closure) => self.add_written(reader, &closure.body),
            _ => {}
        }
    }

    fn add_format(&mut self, reader: &'static str, made: &Macro) {
        if let Some(text) = first_text(made.tokens.clone()) {
            self.add(reader, &text);
        }
    }

    fn visit_function(&mut self, name: &str, attributes: &[Attribute], inside: impl FnOnce(&mut Self)) {
        if is_of_tests(attributes) {
            return;
        }
        let before = self.is_of_model;
        self.is_of_model = before || name == "model_text";
        inside(self);
        self.is_of_model = before;
    }
}

impl<'ast> Visit<'ast> for Collected {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("error")
            && let Meta::List(list) = &attribute.meta
            && let Some(text) = first_text(list.tokens.clone())
        {
            self.add(HOST, &text);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_of_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let name = function.sig.ident.to_string();
        self.visit_function(&name, &function.attrs, |all| visit::visit_item_fn(all, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let name = function.sig.ident.to_string();
        self.visit_function(&name, &function.attrs, |all| visit::visit_impl_item_fn(all, function));
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        match last_of(&call.func) {
            Some((of, _)) if of == "ToolError" => {
                call.args.iter().for_each(|text| self.add_written(MODEL, text));
            }
            Some((of, name)) if of == "Refusal" && name == "new" => {
                call.args.iter().skip(1).for_each(|text| self.add_written(MODEL, text));
            }
            Some((_, name)) if name == "UsageError" => {
                call.args.iter().for_each(|text| self.add_written(PERSON, text));
            }
            _ => {}
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if ["context", "with_context"].contains(&name_of(call).as_str()) {
            call.args.iter().for_each(|text| self.add_written(PERSON, text));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, made: &'ast Macro) {
        let name = made.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "anyhow" | "bail" | "ensure" => self.add_format(PERSON, made),
            "format" | "write" if self.is_of_model => self.add_format(MODEL, made),
            _ => {}
        }
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        if self.is_of_model {
            self.add(MODEL, &text.value());
        }
    }
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, Meta::List(list) if list.tokens.to_string().split(|other: char| !other.is_alphanumeric()).any(|word| word == "test"))
    })
}

/// The last two names of a path, such as `ToolError` and `retry`.
fn last_of(function: &Expr) -> Option<(String, String)> {
    let Expr::Path(path) = function else { return None };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let last = names.next()?;
    Some((names.next().unwrap_or_default(), last))
}

fn name_of(call: &ExprMethodCall) -> String {
    call.method.to_string()
}

/// The first text among the tokens of a macro or an attribute.
fn first_text(tokens: TokenStream) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Literal(literal) => match Lit::new(literal) {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{HOST, MODEL, PERSON, messages};

    #[test]
    fn messages_are_found_where_they_are_written() {
        let source = r#"
            #[derive(thiserror::Error)]
            enum E {
                #[error("cannot read `{path}`")]
                A { path: String },
                #[error(transparent)]
                B(io::Error),
                #[error("{0}")]
                C(String),
            }
            impl E {
                fn model_text(&self) -> String {
                    match self {
                        Self::A { path } => format!("`{path}` is not there; name another"),
                        _ => "it is not there; go on without it".to_owned(),
                    }
                }
            }
            fn run() {
                ToolError::retry("the file changed; read it \
                                  again");
                ToolError::failed(format!("no {thing} today"));
                Refusal::new(ReplyStatus::Denied, format!("this is denied: {why}"));
                other("said to nobody in here");
                bail!("there is {n} too many");
                x().with_context(|| format!("cannot open `{place}`"))?;
                UsageError("name a file after it".to_owned());
            }
            #[cfg(test)]
            mod tests {
                fn run() { ToolError::retry("this is a test"); }
            }
        "#;
        let expected = [
            (HOST, "cannot read `{path}`"),
            (MODEL, "`{path}` is not there; name another"),
            (MODEL, "it is not there; go on without it"),
            (MODEL, "the file changed; read it again"),
            (MODEL, "no {thing} today"),
            (MODEL, "this is denied: {why}"),
            (PERSON, "there is {n} too many"),
            (PERSON, "cannot open `{place}`"),
            (PERSON, "name a file after it"),
        ];
        assert_eq!(messages(source).unwrap(), expected.map(|(reader, text)| (reader, text.to_owned())));
    }
}
