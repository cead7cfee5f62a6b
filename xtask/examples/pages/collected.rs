use anyhow::Context as _;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, ExprArray, ExprBinary, ExprCall, ExprMethodCall, ImplItemFn, Item,
    ItemConst, ItemFn, ItemImpl, ItemMod, Lit, LitStr, Macro, Meta, Pat, Token,
};

use crate::reader::{self, HOST, LOG, MODEL, PERSON};
use crate::said;

/// Who a message is for, and what it says.
type Message = (&'static str, String);

/// Methods whose texts are looked for, asked of another program, or told to who reads the code.
const NOT_SAID_TO: [&str; 37] = [
    "arg",
    "args",
    "batch_execute",
    "contains",
    "contains_key",
    "ends_with",
    "eq_ignore_ascii_case",
    "execute",
    "execute_batch",
    "expect",
    "expect_err",
    "find",
    "get",
    "header",
    "matches",
    "name",
    "options",
    "prepare",
    "prepare_cached",
    "prepare_typed",
    "prepare_typed_cached",
    "query",
    "query_one",
    "query_opt",
    "query_row",
    "record",
    "replace",
    "replacen",
    "rfind",
    "rsplit_once",
    "simple_query",
    "split",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_matches",
];

/// Macros whose texts are told to who reads the code, or are of another language.
const NOT_SAID_IN: [&str; 19] = [
    "asm",
    "assert",
    "assert_eq",
    "assert_ne",
    "concat",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "include_str",
    "macro_rules",
    "matches",
    "panic",
    "parse_quote",
    "quote",
    "quote_spanned",
    "todo",
    "unimplemented",
    "unreachable",
];

/// The members of JSON whose texts somebody reads.
const READ_MEMBERS: [&str; 6] = ["description", "error", "instructions", "message", "text", "title"];

/// Gives the messages of a source: whatever in it is said to somebody, but for documentation and tests.
pub(crate) fn messages(path: &str, source: &str) -> anyhow::Result<Vec<Message>> {
    let mut collected = Collected { messages: Vec::new(), reader: reader::of(path), is_told: false };
    collected.visit_file(&syn::parse_file(source).context("it is not Rust")?);
    Ok(collected.messages)
}

/// Names the modules of a source that stand in files of their own and are of tests alone.
pub(crate) fn modules_of_tests(source: &str) -> anyhow::Result<Vec<String>> {
    let file = syn::parse_file(source).context("it is not Rust")?;
    let of_tests = file.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() && is_of_tests(&module.attrs) => {
            Some(module.ident.to_string())
        }
        _ => None,
    });
    Ok(of_tests.collect())
}

#[derive(Debug)]
struct Collected {
    messages: Vec<Message>,
    /// Who reads what is visited.
    reader: &'static str,
    /// Whether what is visited is said beyond doubt.
    is_told: bool,
}

impl Collected {
    fn add(&mut self, text: &str) {
        self.messages.extend(said::text(text, self.is_told).map(|text| (self.reader, text)));
    }

    /// Visits what is told to a reader.
    fn told_to(&mut self, reader: &'static str, inside: impl FnOnce(&mut Self)) {
        let before = (self.reader, self.is_told);
        (self.reader, self.is_told) = (reader, true);
        inside(self);
        (self.reader, self.is_told) = before;
    }

    fn add_function(&mut self, name: &str, attributes: &[Attribute], inside: impl FnOnce(&mut Self)) {
        if is_of_tests(attributes) {
            return;
        }
        if name == "model_text" { self.told_to(MODEL, inside) } else { inside(self) }
    }

    fn add_macro(&mut self, is_log: bool, name: &str, tokens: &TokenStream) {
        match name {
            _ if is_log => self.told_to(LOG, |all| all.add_logged(tokens)),
            "anyhow" | "bail" | "ensure" => self.told_to(PERSON, |all| all.add_arguments(tokens)),
            "json" | "json_schema" => self.add_members(tokens),
            "vec" => self.add_list(tokens),
            _ if NOT_SAID_IN.contains(&name) => {}
            _ => self.add_arguments(tokens),
        }
    }

    /// Adds what a macro is given as a function is.
    fn add_arguments(&mut self, tokens: &TokenStream) {
        match Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
            Ok(arguments) => arguments.iter().for_each(|argument| self.visit_expr(argument)),
            Err(_) => self.add_tokens(tokens),
        }
    }

    /// Adds the items of a list, as [`visit_expr_array`](Visit::visit_expr_array) does.
    fn add_list(&mut self, tokens: &TokenStream) {
        match Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
            Ok(items) if items.len() > 1 && items.iter().all(is_text) => {}
            _ => self.add_arguments(tokens),
        }
    }

    /// Adds what a macro is given in a form of its own.
    fn add_tokens(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    if is_attribute(&tokens[..at]) {
                        continue;
                    }
                    if let Some(name) = macro_before(&tokens[..at]) {
                        self.add_macro(false, &name, &group.stream());
                        continue;
                    }
                    match Block::parse_within.parse2(group.stream()) {
                        Ok(statements) if group.delimiter() == Delimiter::Brace => {
                            for statement in &statements {
                                self.visit_stmt(statement);
                            }
                        }
                        _ => self.add_tokens(&group.stream()),
                    }
                }
                TokenTree::Literal(literal) => {
                    if let Lit::Str(text) = Lit::new(literal.clone()) {
                        self.add(&text.value());
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds what somebody reads of JSON that is written as such.
    fn add_members(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => match macro_before(&tokens[..at]) {
                    Some(name) if is_read_member(&tokens[..at - 2]) => {
                        self.add_macro(false, &name, &group.stream());
                    }
                    _ => self.add_members(&group.stream()),
                },
                TokenTree::Literal(literal) if is_read_member(&tokens[..at]) => {
                    if let Lit::Str(text) = Lit::new(literal.clone()) {
                        self.add(&text.value());
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the message of what is logged, which stands alone between commas: a field has a name and a sign before it.
    fn add_logged(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let is_gap = |token: Option<&TokenTree>| match token {
            None => true,
            Some(TokenTree::Punct(sign)) => sign.as_char() == ',',
            Some(_) => false,
        };
        for (at, token) in tokens.iter().enumerate() {
            if let TokenTree::Literal(literal) = token
                && let Lit::Str(text) = Lit::new(literal.clone())
                && is_gap(at.checked_sub(1).and_then(|before| tokens.get(before)))
                && is_gap(tokens.get(at + 1))
            {
                self.add(&text.value());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Collected {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("error")
            && let Meta::List(list) = &attribute.meta
            && let Some(text) = first_text(list.tokens.clone())
        {
            self.told_to(HOST, |all| all.add(&text));
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_of_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, implementation: &'ast ItemImpl) {
        // What `Debug` writes is for who reads the code.
        let of = implementation.trait_.as_ref().and_then(|(of, _)| of.segments.last());
        if !is_of_tests(&implementation.attrs) && of.is_none_or(|of| of.ident != "Debug") {
            visit::visit_item_impl(self, implementation);
        }
    }

    fn visit_item_const(&mut self, constant: &'ast ItemConst) {
        if !is_of_tests(&constant.attrs) {
            visit::visit_item_const(self, constant);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let name = function.sig.ident.to_string();
        self.add_function(&name, &function.attrs, |all| visit::visit_item_fn(all, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let name = function.sig.ident.to_string();
        self.add_function(&name, &function.attrs, |all| visit::visit_impl_item_fn(all, function));
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        let (of, name) = last_of(&call.func).unwrap_or_default();
        match (of.as_str(), name.as_str()) {
            ("ToolError", _) | ("Refusal", "new") => {
                self.told_to(MODEL, |all| visit::visit_expr_call(all, call));
            }
            (_, "UsageError") => self.told_to(PERSON, |all| visit::visit_expr_call(all, call)),
            ("HeaderValue", "from_static") | ("Command", "new") | ("", "is") => {}
            _ => visit::visit_expr_call(self, call),
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let name = call.method.to_string();
        let visit_all = |all: &mut Self| call.args.iter().for_each(|argument| all.visit_expr(argument));
        if ["context", "with_context"].contains(&name.as_str()) {
            self.told_to(PERSON, visit_all);
        } else if NOT_SAID_TO.contains(&name.as_str()) {
            call.args.iter().filter(|argument| !is_text(argument)).for_each(|other| self.visit_expr(other));
        } else {
            visit_all(self);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let is_compared = matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        for side in [&binary.left, &binary.right] {
            if !(is_compared && is_text(side)) {
                self.visit_expr(side);
            }
        }
    }

    /// A list of bare texts is what something is compared with or made of.
    fn visit_expr_array(&mut self, array: &'ast ExprArray) {
        if !(array.elems.len() > 1 && array.elems.iter().all(is_text)) {
            visit::visit_expr_array(self, array);
        }
    }

    /// What something is compared with is not said.
    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_macro(&mut self, made: &'ast Macro) {
        let mut names = made.path.segments.iter().map(|segment| segment.ident.to_string());
        let is_log = names.next().is_some_and(|first| first == "tracing");
        let last = made.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        self.add_macro(is_log, &last, &made.tokens);
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        self.add(&text.value());
    }
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, Meta::List(list) if list.tokens.to_string().split(|other: char| !other.is_alphanumeric()).any(|word| word == "test"))
    })
}

fn is_text(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)))
}

/// The last two names of a path, such as `ToolError` and `retry`.
fn last_of(function: &Expr) -> Option<(String, String)> {
    let Expr::Path(path) = function else { return None };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let last = names.next()?;
    Some((names.next().unwrap_or_default(), last))
}

/// The name of the macro that what follows is given to.
fn macro_before(tokens: &[TokenTree]) -> Option<String> {
    match tokens {
        [.., TokenTree::Ident(name), TokenTree::Punct(sign)] if sign.as_char() == '!' => {
            Some(name.to_string())
        }
        _ => None,
    }
}

/// Tells whether what follows is an attribute, as a line of documentation is one for a macro.
fn is_attribute(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [.., TokenTree::Punct(sign)] if sign.as_char() == '#')
}

/// Tells whether what follows is the value of a member that somebody reads.
fn is_read_member(tokens: &[TokenTree]) -> bool {
    let [.., TokenTree::Literal(name), TokenTree::Punct(sign)] = tokens else { return false };
    let is_read = |name: &LitStr| READ_MEMBERS.contains(&name.value().as_str());
    sign.as_char() == ':' && matches!(Lit::new(name.clone()), Lit::Str(name) if is_read(&name))
}

/// The first text among the tokens of an attribute.
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
    use super::{HOST, LOG, MODEL, PERSON, messages, modules_of_tests};

    fn check(source: &str, expected: &[(&'static str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(reader, text)| (*reader, (*text).to_owned())).collect();
        assert_eq!(messages("crates/haft-http/src/lib.rs", source).unwrap(), expected);
    }

    #[test]
    fn messages_are_found_where_they_are_written() {
        check(
            r#"
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
                bail!("there is {n} too many");
                x().with_context(|| format!("cannot open `{place}`"))?;
                UsageError("name a file after it".to_owned());
            }
            #[cfg(test)]
            mod tests {
                fn run() { ToolError::retry("this is a test"); }
            }
            "#,
            &[
                (HOST, "cannot read `{path}`"),
                (MODEL, "`{path}` is not there; name another"),
                (MODEL, "it is not there; go on without it"),
                (MODEL, "the file changed; read it again"),
                (MODEL, "no {thing} today"),
                (MODEL, "this is denied: {why}"),
                (PERSON, "there is {n} too many"),
                (PERSON, "cannot open `{place}`"),
                (PERSON, "name a file after it"),
            ],
        );
    }

    #[test]
    fn what_is_put_together_elsewhere_is_found() {
        check(
            r#"
            const NEXT: &str = "go on without it";
            fn put_together(text: &mut String) {
                text.push_str("; and this is so");
                let _ = write!(text, "{} of them are {}", 1, word("left out here"));
                for (why, next) in [("it is too large", "read a part of it")] {}
                let schema = json!({ "type": "not said at all", "description": "What it is told.", "items": [
                    { "title": format!("The {name} of it all") }
                ] });
                thread_local! {
                    /// It is kept for each thread.
                    static KEPT: Kept = named("as it is kept");
                }
                tokio::select! {
                    () = stopped => { told(format!("it was stopped after {time}")) }
                    answer = asked => other("it answered in time"),
                }
            }
            "#,
            &[
                (HOST, "go on without it"),
                (HOST, "; and this is so"),
                (HOST, "{} of them are {}"),
                (HOST, "left out here"),
                (HOST, "it is too large"),
                (HOST, "read a part of it"),
                (HOST, "What it is told."),
                (HOST, "The {name} of it all"),
                (HOST, "as it is kept"),
                (HOST, "it was stopped after {time}"),
                (HOST, "it answered in time"),
            ],
        );
    }

    #[test]
    fn what_is_logged_is_told_apart_from_its_fields() {
        check(
            r#"fn run() { tracing::warn!(target: "a b c", why = "not this one", %error, "a call is {lost}", lost = 1); }"#,
            &[(LOG, "a call is {lost}")],
        );
    }

    #[test]
    fn what_is_looked_for_is_not_said() {
        check(
            r#"
            const WORDS: [&str; 2] = ["the rest of it", "the same as before"];
            fn run() {
                if text == "no such thing there" || text.contains("this is it not") {}
                match text { "one of the words" => {} _ => {} }
                x.expect("it is there by now");
                assert!(is_so, "it has to be so");
                HeaderValue::from_static("one two three");
            }
            "#,
            &[],
        );
    }

    #[test]
    fn modules_of_tests_are_named() {
        let source = "mod a;\n#[cfg(test)]\nmod b;\n#[cfg(test)]\nmod tests { fn f() {} }\n";
        assert_eq!(modules_of_tests(source).unwrap(), ["b"]);
    }
}
