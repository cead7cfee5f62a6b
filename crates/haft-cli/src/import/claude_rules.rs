use super::carried::{Carried, List};
use crate::looks_secret;
use haft::mcp::ServerName;

/// Carries a rule of Claude Code's over.
///
/// What is allowed here is never more than there. What is denied or asked about is never less: where that cannot be said
/// exactly, a denial is wider.
pub(super) fn rule(list: List, text: &str, at: &str, carried: &mut Carried) {
    if text.split(|c: char| c.is_whitespace() || "()=\"',".contains(c)).any(looks_secret::looks_secret) {
        return carried.leave(
            at,
            "it may hold a secret, which is not copied; write the rule yourself, with a `*` in its place",
        );
    }
    let here = format!("{at} `{text}`");
    let (tool, inner) = match text.split_once('(') {
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(inner) => (tool, Some(inner.trim())),
            None => return carried.leave(here, "it has no closing bracket"),
        },
        None => (text, None),
    };
    let inner = inner.filter(|inner| !matches!(*inner, "" | "*"));
    match tool.trim() {
        "Bash" => command(list, inner, here, carried),
        "Read" => path(list, "read", inner, here, carried),
        "Edit" | "MultiEdit" | "NotebookEdit" | "Write" => path(list, "write", inner, here, carried),
        "Glob" => searching(list, "glob", inner, here, carried),
        "Grep" => searching(list, "grep", inner, here, carried),
        "LS" => searching(list, "list_files", inner, here, carried),
        "WebFetch" => host(list, inner, here, carried),
        name if name.starts_with("mcp__") => server(list, name, inner, here, carried),
        "WebSearch" => carried.leave(here, "there is no search of the web here"),
        "Agent" | "Task" => carried.leave(here, "what agents may do is said by `[agents.NAME.permissions]`"),
        "*" => carried.leave(here, "a rule about everything is not carried over; name a `profile`"),
        name => carried.leave(here, format!("there is no tool `{name}` here")),
    }
}

/// Commands: `npm run test`, `npm run test:*`, `git * main`.
fn command(list: List, inner: Option<&str>, here: String, carried: &mut Carried) {
    let Some(inner) = inner else {
        return match list {
            // Whatever a command touches is decided besides, so this is less than there.
            List::Allow => carried.rule(list, "exec(*)".to_owned(), &here),
            List::Ask | List::Deny => carried.rule(list, "bash".to_owned(), &here),
        };
    };
    let (words, is_start) = match inner.strip_suffix(":*") {
        Some(words) => (words.trim_end(), true),
        None => (inner, false),
    };
    if words.is_empty() {
        return command(list, None, here, carried);
    }
    if words.contains(":*") {
        return carried.leave(here, "`:*` stands in the middle of it, which means nothing there");
    }
    // What only a shell reads, or a pattern reads otherwise, could mean another command here.
    let is_odd = |c: char| c.is_control() || "\"'`$\\;&|<>(){}[]#!~?".contains(c);
    if words.contains(is_odd) || words.contains("**") {
        let why = format!(
            "it has signs that patterns of commands read otherwise; write the rule yourself, and try it with `haft policy explain '{}'`",
            words.replace('\'', "…")
        );
        return carried.leave(here, why);
    }
    let pattern = match (list, is_start) {
        // A start ends within a word there, but what is allowed here ends with one.
        (List::Allow, true) => format!("{words} *"),
        (List::Ask | List::Deny, true) => format!("{}*", words.trim_end_matches('*')),
        (_, false) => words.to_owned(),
    };
    if list == List::Allow && pattern.starts_with('*') {
        return carried.leave(here, "it allows whatever program there is; name the program");
    }
    carried.rule(list, format!("exec({pattern})"), &here);
}

/// Files: `src/**`, `./.env`, `/src/**` of the project, `//etc/hosts`, `~/notes`.
fn path(list: List, mode: &str, inner: Option<&str>, here: String, carried: &mut Carried) {
    let Some(inner) = inner else {
        carried.rule(list, format!("{mode}(**)"), &here);
        if list != List::Allow {
            carried.rule(list, format!("{mode}(/**)"), &here);
        }
        return;
    };
    if inner.starts_with('!') {
        return carried.leave(here, "it is a negated pattern; write what is meant as a rule of another list");
    }
    if inner.contains('\\') || inner.split('/').any(|part| part == "..") {
        return carried.leave(here, "where it leads cannot be told for sure; write the rule yourself");
    }
    let pattern = if let Some(absolute) = inner.strip_prefix("//") {
        format!("/{absolute}")
    } else if let Some(of_project) = inner.strip_prefix('/') {
        if carried.is_users {
            return carried.leave(
                here,
                "it begins in the directory of the settings there, which is not a place of a project; write it with `~/`",
            );
        }
        anchored(of_project)
    } else if let Some(rest) = inner.strip_prefix("./") {
        match list {
            List::Allow => anchored(rest),
            // Wherever there is one of that name.
            List::Ask | List::Deny => rest.to_owned(),
        }
    } else {
        inner.to_owned()
    };
    carried.rule(list, format!("{mode}({pattern})"), &here);
}

/// Has a path begin in the directory, and nowhere below it.
fn anchored(path: &str) -> String {
    if path.trim_end_matches('/').contains('/') { path.to_owned() } else { format!("./{path}") }
}

/// Tools that only look.
fn searching(list: List, tool: &str, inner: Option<&str>, here: String, carried: &mut Carried) {
    match (list, inner) {
        (List::Allow, None) => {
            carried.leave(here, "looking at the files of the directory is allowed by every profile");
        }
        (List::Allow, Some(_)) => carried.leave(here, "it is said by rules such as `read(src/**)`"),
        (_, None) => carried.rule(list, tool.to_owned(), &here),
        (_, Some(path)) => self::path(list, "read", Some(path), here, carried),
    }
}

/// Hosts: `domain:example.com`.
fn host(list: List, inner: Option<&str>, here: String, carried: &mut Carried) {
    let Some(inner) = inner else { return carried.rule(list, "web_fetch".to_owned(), &here) };
    let Some(domain) = inner.strip_prefix("domain:").map(str::trim) else {
        return carried.leave(here, "it names no `domain:`");
    };
    match list {
        List::Allow => {
            let why = format!(
                "it is about the tool that fetches pages, and a rule about a host holds for commands, too; if they may reach it, write `connect({domain})`"
            );
            carried.leave(here, why);
        }
        List::Ask | List::Deny => carried.rule(list, format!("connect({domain})"), &here),
    }
}

/// Servers and their tools: `mcp__github`, `mcp__github__create_issue`.
fn server(list: List, name: &str, inner: Option<&str>, here: String, carried: &mut Carried) {
    if inner.is_some() {
        return carried.leave(here, "rules about arguments of tools are not known here");
    }
    let rest = &name["mcp__".len()..];
    let (server, tool) = rest.split_once("__").map_or((rest, None), |(server, tool)| (server, Some(tool)));
    // Which server is meant is told by a name that is the same here.
    let is_known = server.parse::<ServerName>().is_ok();
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_*".contains(c));
    match tool {
        _ if !is_known => carried.leave(here, "a server cannot be called so here"),
        None | Some("*" | "") => carried.rule(list, format!("call(@{server})"), &here),
        Some(tool) if is_plain(tool) => carried.rule(list, format!("call(@{server}/{tool})"), &here),
        Some(_) => carried.leave(here, "the name of its tool cannot be read"),
    }
}
