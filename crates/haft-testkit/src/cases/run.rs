use super::content::Form;
use super::failure::{Failure, Mend, difference, fenced};
use super::page::{After, Case, Fixture, Page, Reply, Step};
use crate::{Tree, call};
use haft_core::ToolReply;
use haft_tools_core::ToolRegistry;
use std::fs;
use std::io;

/// Runs every case of a page and says what is not as the page says.
pub(super) fn run(page: &Page, tools: &dyn Fn(&Tree) -> ToolRegistry) -> Result<Vec<Failure>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start a runtime for the cases: {error}"))?;
    let mut failures = Vec::new();
    for case in &page.cases {
        let tree = page.shared.iter().chain(&case.tree).fold(Tree::new(), plant);
        let registry = tools(&tree);
        for step in &case.steps {
            let reply = runtime.block_on(call(&registry, &step.tool, step.input.clone()));
            compare(case, step, &reply, &tree, &mut failures);
        }
    }
    Ok(failures)
}

fn plant(tree: Tree, fixture: &Fixture) -> Tree {
    match fixture {
        Fixture::Directory { path } => tree.directory(path),
        Fixture::Link { path, target } => tree.link(path, target),
        Fixture::File { path, bytes, executable } => {
            let tree = tree.bytes(path, bytes);
            if *executable { tree.made_executable(path) } else { tree }
        }
    }
}

fn compare(case: &Case, step: &Step, reply: &ToolReply, tree: &Tree, failures: &mut Vec<Failure>) {
    let text = reply.output.to_text();
    let status = reply.status.to_string();
    let fail = |line, what, mend| Failure { line, case: case.name.clone(), what, mend };
    if text.contains(&*tree.path().to_string_lossy()) {
        let what = format!("the reply of `{}` tells the model a host path:\n{text}", step.tool);
        failures.push(fail(step.line, what, None));
        return;
    }
    let info = format!("reply {status}");
    let body = if text.is_empty() { text.clone() } else { format!("{text}\n") };
    match &step.reply {
        None => {
            let block = fenced(&info, &body, 3);
            let what = format!("the call of `{}` has no reply; it is:\n{block}", step.tool);
            let mend = Mend { span: step.end..step.end, text: format!("\n\n{block}") };
            failures.push(fail(step.line, what, Some(mend)));
        }
        Some(Reply { status: expected_status, text: expected, written }) => {
            if *expected_status != status || *expected != text {
                let shown = difference(
                    &format!("reply {expected_status}\n{expected}\n"),
                    &format!("{info}\n{text}\n"),
                );
                let what = format!("the reply of `{}` differs:\n{shown}", step.tool);
                let mend = Mend { span: written.span.clone(), text: fenced(&info, &body, written.ticks) };
                failures.push(fail(written.line, what, Some(mend)));
            }
        }
    }
    for After { path, content, written } in &step.after {
        let actual = match found(tree, path) {
            Ok(actual) => actual,
            Err(error) => {
                failures.push(fail(written.line, format!("cannot read `{path}`: {error}"), None));
                continue;
            }
        };
        if actual != *content {
            let (info, body) = match &actual {
                None => (format!("after {path} absent"), String::new()),
                Some(bytes) => {
                    let (form, body) = Form::encode(bytes);
                    (format!("after {path}{}", form.flags()), body)
                }
            };
            let shown =
                difference(&format!("{}\n{}", written.info, written.body), &format!("{info}\n{body}"));
            let what = format!("`{path}` is not as it should be after `{}`:\n{shown}", step.tool);
            let mend = Mend { span: written.span.clone(), text: fenced(&info, &body, written.ticks) };
            failures.push(fail(written.line, what, Some(mend)));
        }
    }
}

/// Reads a file of the tree; nothing where there is none.
fn found(tree: &Tree, path: &str) -> io::Result<Option<Vec<u8>>> {
    match fs::read(tree.path().join(path)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
