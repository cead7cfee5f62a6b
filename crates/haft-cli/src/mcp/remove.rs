use super::arguments::RemoveOptions;
use super::files::{user_file, write_user_file};
use super::servers::Running;
use crate::exit::{Exit, UsageError, note};
use crate::paint::{GOOD, NAME};
use crate::small_file::text_of;
use crate::timeline::visible;
use anyhow::{Context as _, Result};
use haft::mcp::LoginError;
use std::ops::Range;
use toml_edit::DocumentMut;

/// Takes a server out of the user's file, and leaves all else in it as it is; the login to it is forgotten.
pub(super) async fn remove(options: &RemoveOptions) -> Result<Exit> {
    let name = &options.server;
    let path = user_file()?;
    let text = text_of(&path)?.unwrap_or_default();
    let (shown, server) = (visible(&path.display().to_string()), visible(name));
    let table = parsed(&text)
        .with_context(|| UsageError(format!("`{shown}` is no TOML; `haft config check` says where")))?;
    let (left, is_remote) = less(table, name).with_context(|| {
        UsageError(format!(
            "there is no server `{server}` in `{shown}`; `haft mcp list` says which file each is of"
        ))
    })?;
    // It is known where the login is as long as the server is.
    let running = if is_remote { Running::configured(None, std::slice::from_ref(name)).ok() } else { None };
    let after = [by_lines(&text, name), by_keys(&text, name)]
        .into_iter()
        .flatten()
        .find(|after| parsed(after).as_ref() == Some(&left))
        .with_context(|| {
            UsageError(format!("`{server}` cannot be taken out of `{shown}`; take it out there"))
        })?;
    write_user_file(&path, &after)?;
    if let Some(running) = running {
        forget_login(&running, name).await;
    }
    outln!("{GOOD}removed{GOOD:#} {NAME}{server}{NAME:#} from {shown}");
    Ok(Exit::Done)
}

async fn forget_login(running: &Running, name: &str) {
    let Ok(server) = running.server(name) else { return };
    match server.log_out().await {
        Ok(()) | Err(LoginError::NoLogin(_)) => {}
        Err(error) => note(&error),
    }
}

fn parsed(text: &str) -> Option<toml::Table> {
    text.parse().ok().map(without_empty)
}

/// A table without servers is as good as none.
fn without_empty(mut table: toml::Table) -> toml::Table {
    if let Some(toml::Value::Table(mcp)) = table.get_mut("mcp") {
        mcp.retain(|key, value| key != "servers" || value.as_table().is_none_or(|table| !table.is_empty()));
        if mcp.is_empty() {
            table.remove("mcp");
        }
    }
    table
}

/// What is in the file without a server, and whether that is one which is asked over the network; nothing where it is not there.
fn less(mut table: toml::Table, name: &str) -> Option<(toml::Table, bool)> {
    let servers = table.get_mut("mcp")?.get_mut("servers")?.as_table_mut()?;
    let is_remote = servers.remove(name)?.get("url").is_some();
    Some((without_empty(table), is_remote))
}

/// Leaves out the lines of its tables, with the comment that stands right above each and begins no file.
fn by_lines(text: &str, name: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let before = lines.len();
    while let Some(range) = table_of(&lines, name) {
        lines.drain(range);
    }
    (lines.len() < before).then(|| lines.concat())
}

fn table_of(lines: &[&str], name: &str) -> Option<Range<usize>> {
    let is_blank = |line: &&&str| line.trim().is_empty();
    let is_comment = |line: &&&str| line.trim_start().starts_with('#');
    let header = lines.iter().position(|line| begins(line, name))?;
    let rest = &lines[header + 1..];
    let entries = rest.iter().take_while(|line| !line.trim_start().starts_with('[')).count();
    // What stands behind its last entry is of what follows.
    let behind = rest[..entries].iter().rev().take_while(|line| is_blank(line) || is_comment(line)).count();
    let mut end = header + 1 + entries - behind;
    let comment = lines[..header].iter().rev().take_while(is_comment).count();
    let mut start = if comment == header { header } else { header - comment };
    if lines.get(end).is_some_and(|line| is_blank(&line)) {
        end += 1;
    }
    if end == lines.len() {
        start -= lines[..start].iter().rev().take_while(is_blank).count();
    }
    Some(start..end)
}

/// Tells whether a line begins the table of a server, or one below it.
fn begins(line: &str, name: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('[') else { return false };
    let mut keys = rest.split(['.', ']']).map(|key| key.trim().trim_matches(['"', '\'']));
    keys.next() == Some("mcp") && keys.next() == Some("servers") && keys.next() == Some(name)
}

/// Leaves out its key, as where it is no table of its own.
fn by_keys(text: &str, name: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    document.get_mut("mcp")?.get_mut("servers")?.as_table_like_mut()?.remove(name)?;
    Some(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::{by_keys, by_lines};

    fn check(text: &str, name: &str, expected: &str) {
        assert_eq!(by_lines(text, name).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_not_of_the_server_stays_as_it_is() {
        let text = "# mine\n[agent]\nmodel = \"x\"\n\n# the first\n[mcp.servers.a]\ncommand = \"a\"\n\n\
                    [mcp.servers.a.env]\nKEY = \"[v]\" # one\n\n# the second\n[ mcp . servers . \"b\" ]\ncommand = 'b'\n";
        let without_a =
            "# mine\n[agent]\nmodel = \"x\"\n\n# the second\n[ mcp . servers . \"b\" ]\ncommand = 'b'\n";
        check(text, "a", without_a);
        check(without_a, "b", "# mine\n[agent]\nmodel = \"x\"\n");
        assert_eq!(by_lines(text, "c"), None);
    }

    #[test]
    fn comments_of_others_and_ends_of_lines_stay() {
        let text =
            "# all of mine\r\n\r\n# [agent]\r\n# model = \"x\"\r\n\r\n[mcp.servers.a]\r\ncommand = \"a\"\r\n";
        check(text, "a", "# all of mine\r\n\r\n# [agent]\r\n# model = \"x\"\r\n");
        check("# mine\n[mcp.servers.a]\ncommand = \"a\"\n# later\n[b]\n", "a", "# mine\n# later\n[b]\n");
    }

    #[test]
    fn a_server_that_is_no_table_of_its_own_is_left_out_by_its_key() {
        let inline = "mcp = { servers = { a = { command = \"a\" }, b = { command = \"b\" } } }\n";
        let left = "mcp = { servers = { b = { command = \"b\" } } }\n";
        assert_eq!((by_lines(inline, "a"), by_keys(inline, "a").as_deref()), (None, Some(left)));
        let dotted = "[mcp.servers]\na.command = \"a\"\nb.command = \"b\"\n";
        assert_eq!(by_keys(dotted, "a").as_deref(), Some("[mcp.servers]\nb.command = \"b\"\n"));
    }
}
