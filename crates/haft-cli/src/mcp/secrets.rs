use super::files::McpFiles;
use crate::known_secrets::{of_address, of_named, variable};
use haft::mcp::{ServerConfig, Transport, expand_variables};
use std::cell::RefCell;

impl McpFiles {
    /// Gathers the secrets that servers are given which may be started: variables of programs, headers, and what addresses and
    /// arguments hold.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.startable().flat_map(|known| of_server(&known.config)).collect()
    }
}

fn of_server(config: &ServerConfig) -> Vec<String> {
    let mut found = Vec::new();
    match config.written.as_ref().unwrap_or(&config.transport) {
        Transport::Stdio(program) => {
            for (name, value) in &program.variables {
                of_text(name, &value.to_string_lossy(), &mut found);
            }
            let mut option = String::new();
            for argument in &program.arguments {
                let argument = argument.to_string_lossy().into_owned();
                match argument.split_once('=') {
                    Some((name, value)) if name.starts_with('-') => of_text(name, value, &mut found),
                    None if argument.starts_with('-') => {
                        option = argument;
                        continue;
                    }
                    _ => of_text(&option, &argument, &mut found),
                }
                option.clear();
            }
        }
        Transport::Http(service) => {
            of_text("", &service.url, &mut found);
            for (name, value) in &service.headers {
                of_text(name, value, &mut found);
            }
        }
        _ => {}
    }
    // What it logs in with is written nowhere else.
    if let Transport::Http(service) = &config.transport {
        found.extend(service.login.client.iter().filter_map(|client| client.secret.clone()));
    }
    found
}

/// Adds what of a text is a secret: of the variables in it those that are one by their own name, by that of the text or by
/// themselves.
fn of_text(name: &str, text: &str, found: &mut Vec<String>) {
    let named = RefCell::new(Vec::new());
    let note = |variable: &str| {
        named.borrow_mut().push(variable.to_owned());
        Some(String::new())
    };
    // What cannot be replaced is told where the file is read.
    let _ = expand_variables(text, &note);
    let variables = named.into_inner();
    for (variable, value) in variables.iter().filter_map(|name| Some((name, variable(name)?))) {
        found.extend(of_named(name, &value).or_else(|| of_named(variable, &value)));
        found.extend(of_address(&value));
    }
    if variables.is_empty() {
        found.extend(of_named(name, text));
        found.extend(of_address(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft::mcp::ServersFile;

    #[test]
    fn secrets_of_servers_are_found_wherever_they_are_written() {
        let text = r#"
[mcp.servers.program]
command = "server"
args = ["--api-key", "from-option", "--token=from-equals", "--zone", "europe", "--verbose"]
env = { API_TOKEN = "from-variable", ZONE = "europe" }

[mcp.servers.service]
url = "https://example.com/mcp?key=from-query&zone=europe"
headers = { Authorization = "Bearer from-header", Accept = "application/json" }
"#;
        let servers = ServersFile::from_toml(text, "haft.toml", &|_| None).unwrap().servers;
        let mut found: Vec<String> = servers.iter().flat_map(of_server).collect();
        found.sort();
        assert_eq!(found, ["from-equals", "from-header", "from-option", "from-query", "from-variable"]);
    }
}
