use super::arguments::RemoveOptions;
use super::files::{user_file, write_user_file};
use crate::exit::{Exit, UsageError};
use crate::paint::{GOOD, NAME};
use crate::small_file::text_of;
use crate::timeline::visible;
use anyhow::{Context as _, Result};
use haft::mcp::ServerName;
use toml_edit::{DocumentMut, TomlError};

/// Takes a server out of the user's file, and leaves all else in it as it is.
pub(super) fn remove(options: &RemoveOptions) -> Result<Exit> {
    let name: ServerName =
        options.server.parse().map_err(|error: haft::mcp::ServerNameError| UsageError(error.to_string()))?;
    let path = user_file()?;
    let text = text_of(&path)?.unwrap_or_default();
    let shown = visible(&path.display().to_string());
    let after = without(&text, name.as_str())
        .map_err(|_| UsageError(format!("`{shown}` is no TOML; `haft config check` says where")))?
        .with_context(|| {
            UsageError(format!(
                "there is no server `{name}` in `{shown}`; `haft mcp list` says which file each is of"
            ))
        })?;
    write_user_file(&path, &after)?;
    anstream::println!("{GOOD}removed{GOOD:#} {NAME}{name}{NAME:#} from {shown}");
    Ok(Exit::Done)
}

/// The text without the tables of a server and the comment right above, if there is a server of this name.
fn without(text: &str, name: &str) -> Result<Option<String>, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    let servers = document.get_mut("mcp").and_then(|mcp| mcp.get_mut("servers")?.as_table_like_mut());
    Ok(servers.and_then(|servers| servers.remove(name)).map(|_| document.to_string()))
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_is_not_of_the_server_stays_as_it_is() {
        let text = "# mine\n[agent]\nmodel = \"x\"\n\n# the first\n[mcp.servers.a]\ncommand = \"a\"\n\n\
                    [mcp.servers.a.env]\nKEY = \"[mcp.servers.b]\"\n\n# the second\n[mcp.servers.\"b\"]\ncommand = 'b'\n";
        let without_a =
            "# mine\n[agent]\nmodel = \"x\"\n\n# the second\n[mcp.servers.\"b\"]\ncommand = 'b'\n";
        assert_eq!(without(text, "a").unwrap().as_deref(), Some(without_a));
        assert_eq!(without(without_a, "b").unwrap().as_deref(), Some("# mine\n[agent]\nmodel = \"x\"\n"));
        assert_eq!(without(text, "c").unwrap(), None);
        let inline = "mcp = { servers = { a = { command = \"a\" }, b = { command = \"b\" } } }\n";
        let left = "mcp = { servers = { b = { command = \"b\" } } }\n";
        assert_eq!(without(inline, "a").unwrap().as_deref(), Some(left));
    }
}
