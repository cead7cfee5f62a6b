use super::*;
use crate::{LogLevel, LoginConfig, RemoteServer, ServerIdentity, Start, Transport};
use expect_test::{Expect, expect};
use std::fmt::Write as _;

fn variable(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret-value".to_owned()),
        "LINES" => Some("a\r\nEvil: s3cret-value".to_owned()),
        "ADDRESS" => Some("http://s3cret-value.example/".to_owned()),
        _ => None,
    }
}

/// Reads a file and compares all that came of it; nothing that is told may hold a variable's value.
fn check(text: &str, expected: &Expect) {
    let is_json = text.trim_start().starts_with(['{', '/']);
    let read = if is_json {
        ServersFile::from_json(text, ".mcp.json", &variable)
    } else {
        ServersFile::from_toml(text, "mcp.toml", &variable)
    };
    let mut told = String::new();
    match read {
        Ok(file) => {
            for server in file.servers {
                writeln!(told, "{} {:?}", server.name, server.transport).unwrap();
                if let Transport::Http(service) = &server.transport
                    && (&service.login, &service.authorities) != (&LoginConfig::default(), &None)
                {
                    writeln!(told, "  {:?} {:?}", service.login, service.authorities).unwrap();
                }
            }
            file.disabled.iter().for_each(|name| writeln!(told, "disabled {name}").unwrap());
            for problem in file.refused.iter().flat_map(|refused| &refused.problems) {
                writeln!(told, "refused {problem}").unwrap();
            }
            file.warnings.iter().for_each(|warning| writeln!(told, "warning {warning}").unwrap());
        }
        Err(error) => writeln!(told, "error {error}").unwrap(),
    }
    assert!(!told.contains("s3cret"), "{told}");
    expected.assert_eq(&told);
}

#[test]
fn reads_what_desktop_clients_and_editors_have() {
    check(
        r#"{
  "globalShortcut": "Ctrl+X",
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "server", "--token", "${TOKEN}"], "env": { "KEY": "${TOKEN}", "PORT": 3000 }, "cwd": "/srv" },
    "web": { "type": "http", "url": "https://mcp.example.com/mcp?key=${TOKEN}", "headers": { "X-Key": "${TOKEN}" } },
    "flow": { "serverUrl": "http://localhost:8080/mcp" },
    "off": { "command": "x", "env": { "A": "${UNSET}" }, "disabled": true }
  }
}"#,
        &expect![[r#"
            files Stdio(ServerProgram { command: "npx", arguments: 4 not shown, variables: ["KEY", "PORT"], directory: Some("/srv") })
            web Http(RemoteServer { url: "https://mcp.example.com/mcp…", headers: ["X-Key"], .. })
            flow Http(RemoteServer { url: "http://localhost:8080/mcp", headers: [], .. })
            disabled off
        "#]],
    );
    check(
        r#"// of an editor
{
  "inputs": [],
  "servers": {
    "io.example/time": { "type": "stdio", "command": "mcp-server-time", /* a zone */ "args": ["--zone", "UTC",], },
  },
}"#,
        &expect![[r#"
            io_example_time Stdio(ServerProgram { command: "mcp-server-time", arguments: 2 not shown, variables: [], directory: None })
            warning .mcp.json:5:5: server `io.example/time`: it is called `io_example_time` here, so that it can be a part of the names of tools
        "#]],
    );
}

#[test]
fn reads_tables_of_toml() {
    check(
        r#"
[permissions]
allow = []

[mcp.servers.time]
command = "mcp-server-time"
start = "eager"
era = "modern"
resource_tools = true
limits = { start_timeout = "5s", message = "1 MiB", restarts = 2 }

[mcp.servers.local]
unix = "/run/mcp.sock"
"#,
        &expect![[r#"
            time Stdio(ServerProgram { command: "mcp-server-time", arguments: 0 not shown, variables: [], directory: None })
            local Unix("/run/mcp.sock")
        "#]],
    );
    let text = "[mcp.servers.a]\ncommand = \"a\"\nstart = \"eager\"\nlimits = { timeout = \"2min\" }\n";
    let file = ServersFile::from_toml(text, "mcp.toml", &variable).unwrap();
    assert_eq!((file.servers[0].start, file.servers[0].limits.timeout.as_secs()), (Start::Eager, 120));
}

#[test]
fn reads_authorities_by_their_earlier_names() {
    for key in ["authorities", "ca", "ca_file", "caFile"] {
        let text = format!("[mcp.servers.a]\nurl = \"https://a.example\"\n{key} = \"a.pem\"\n");
        let file = ServersFile::from_toml(&text, "mcp.toml", &variable).unwrap();
        let Transport::Http(service) = &file.servers[0].transport else { panic!("{text}") };
        assert_eq!(service.authorities.as_deref(), Some("a.pem".as_ref()), "{key}");
    }
    check(
        "[mcp.servers.a]\nurl = \"https://a.example\"\nauthorities = \"a.pem\"\nca = \"b.pem\"\n",
        &expect![[r"
            refused mcp.toml:4:1: server `a`: `ca`: it is another word for `authorities`, which is written, too; remove one of them
        "]],
    );
}

#[test]
fn reads_limits_by_their_earlier_names() {
    let limits = |limits: &str| {
        let text = format!("[mcp.servers.a]\ncommand = \"a\"\nlimits = {{ {limits} }}\n");
        ServersFile::from_toml(&text, "mcp.toml", &variable).unwrap().servers[0].limits
    };
    let earlier = limits("start = \"5s\", probe = \"2s\", idle = \"4s\", call = \"2min\"");
    let now =
        limits("start_timeout = \"5s\", probe_timeout = \"2s\", idle_timeout = \"4s\", timeout = \"2min\"");
    assert_eq!(earlier, now);
    assert_eq!((now.timeout.as_secs(), now.start_timeout.as_secs()), (120, 5));
    check(
        "[mcp.servers.a]\ncommand = \"a\"\nlimits = { timeout = \"2min\", call = \"1min\" }\n",
        &expect![[r"
            refused mcp.toml:3:30: server `a`: `limits.call`: it is another word for `timeout`, which is written, too; remove one of them
        "]],
    );
}

#[test]
fn reads_from_which_level_on_a_log_is_asked_for() {
    let level = |line: &str| {
        let text = format!("[mcp.servers.a]\ncommand = \"a\"\n{line}\n");
        ServersFile::from_toml(&text, "mcp.toml", &variable).unwrap().servers[0].log_level
    };
    let levels =
        ["", "log_level = \"warning\"", "logLevel = \"emergency\"", "log_level = \"none\""].map(level);
    assert_eq!(levels, [Some(LogLevel::Info), Some(LogLevel::Warning), Some(LogLevel::Emergency), None]);
    check(
        "[mcp.servers.a]\ncommand = \"a\"\nlog_level = \"loud\"\n",
        &expect![[r"
        refused mcp.toml:3:13: server `a`: `log_level`: `loud` is not known; write `none`, `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`
    "]],
    );
}

#[test]
fn a_server_with_an_error_takes_no_other_down() {
    check(
        r#"{ "mcpServers": {
  "good": { "command": "good" },
  "unset": { "command": "a", "env": { "A": "${TOKEN}${MISSING}" } },
  "split": { "url": "https://example.com", "headers": { "A": "${LINES}", "B C": "" } },
  "plain": { "url": "${ADDRESS}" },
  "both": { "url": "https://example.com", "command": "a" },
  "none": { "args": [] },
  "old": { "type": "sse", "url": "https://example.com" },
  "typo": { "type": "htpp", "url": "https://example.com" },
  "kinds": { "command": { "a": 1 }, "args": "x", "disabled": "no" },
  "text": "npx",
  "good ": { "command": "other" }
} }"#,
        &expect![[r#"
            good Stdio(ServerProgram { command: "good", arguments: 0 not shown, variables: [], directory: None })
            refused .mcp.json:3:44: server `unset`: `env.A`: the variable `MISSING` is not set; set it, or write a default as in `${MISSING:-…}`
            refused .mcp.json:4:62: server `split`: `headers.A`: its value holds a control character, such as the end of a line; take it out
            refused .mcp.json:4:81: server `split`: `headers.B C`: it cannot name a header; write letters, digits and `-`
            refused .mcp.json:5:21: server `plain`: `url`: it is neither `https` nor on this machine; write `https`
            refused .mcp.json:6:11: server `both`: it has `command` and `url`; write `type`, or remove all but one
            refused .mcp.json:7:11: server `none`: nothing says how it is reached; write `command`, `url` or `unix`
            refused .mcp.json:8:20: server `old`: `type`: the transport of 2024 is not spoken; if the server has streamable HTTP, too, write `http`
            refused .mcp.json:9:21: server `typo`: `type`: `htpp` is not a transport; write `http`
            refused .mcp.json:10:25: server `kinds`: `command`: it is a table; write a text
            refused .mcp.json:10:62: server `kinds`: `disabled`: it is a text; write `true` or `false`
            refused .mcp.json:11:11: server `text`: a server is a table, and this is a text; write one
            refused .mcp.json:12:3: server `good `: another server of the file is called `good`, too; rename one of them
        "#]],
    );
}

#[test]
fn what_has_no_effect_is_told() {
    check(
        r#"{ "mcpSrvers": {}, "mcpServers": {
  "a": { "command": "a", "argz": [], "autoApprove": ["x"], "timeout": 5, "headers": { "A": "b" }, "zzzzzzzz": 1, "limits": { "calls": 1 } }
} }"#,
        &expect![[r#"
            a Stdio(ServerProgram { command: "a", arguments: 0 not shown, variables: [], directory: None })
            warning .mcp.json:1:3: `mcpSrvers`: it is not known, and has no effect; did you mean `mcpServers`?
            warning .mcp.json:2:26: server `a`: `argz`: it is not known, and has no effect; did you mean `args`?
            warning .mcp.json:2:38: server `a`: `autoApprove`: it has no effect here; what may be called is said by the rules of a policy
            warning .mcp.json:2:60: server `a`: `timeout`: it has no effect here; write `limits = { start_timeout, idle_timeout, timeout }`
            warning .mcp.json:2:74: server `a`: `headers`: it has no effect on a server that is reached by `command`
            warning .mcp.json:2:99: server `a`: `zzzzzzzz`: it is not known, and has no effect
            warning .mcp.json:2:126: server `a`: `limits.calls`: it is not known, and has no effect; did you mean `timeout`?
        "#]],
    );
    check(
        "[servers.a]\ncommand = \"a\"\n",
        &expect![[r"
            warning mcp.toml:1:2: `servers`: it is not known, and has no effect; did you mean `mcp.servers`?
        "]],
    );
}

#[test]
fn says_where_a_file_is_not_of_its_language() {
    check(
        "{\n  \"mcpServers\": {\n    \"a\" {}\n  }\n}",
        &expect![[r"
        error .mcp.json:3:9: it is not JSON: expected `:`
    "]],
    );
    check(
        "{ \"mcpServers\": { \"a\": { \"command\": \"\\ud800\" } } }",
        &expect![[r"
        error .mcp.json:1:44: it is not JSON: unexpected end of hex escape
    "]],
    );
    check(
        "[mcp.servers.a]\ncommand = a\n",
        &expect![[r"
            error mcp.toml:2:11: it is not TOML: string values must be quoted, expected literal string
        "]],
    );
    check(
        "{}",
        &expect![[r"
        error .mcp.json:1:1: there are no servers in it; write them under `mcpServers`
    "]],
    );
    check(
        "{ \"mcpServers\": [] }",
        &expect![[r"
        error .mcp.json:1:17: the servers must be a table of names, and is a list
    "]],
    );
    check(
        &format!("{{{}", " ".repeat(MOST_BYTES)),
        &expect![[r"
        error .mcp.json: a file of servers has at most 1 MiB; see whether this is one
    "]],
    );
    let servers: Vec<String> = (0..=MOST_SERVERS).map(|number| format!("\"s{number}\":{{}}")).collect();
    check(
        &format!("{{\"mcpServers\":{{{}}}}}", servers.join(",")),
        &expect![[r"
        error .mcp.json:1:15: it has 129 servers; 128 are the most
    "]],
    );
    check(
        &format!("{{\"mcpServers\":{}", "[".repeat(100_000)),
        &expect![[r"
        error .mcp.json:1:100014: it is not JSON: EOF while parsing a list
    "]],
    );
}

#[test]
fn a_file_cannot_be_too_deep() {
    let deep = format!("{{\"mcpServers\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    check(
        &deep,
        &expect![[r"
        error .mcp.json:1:47: lists and tables stand in each other more than 32 deep
    "]],
    );
}

#[test]
fn secrets_do_not_show_in_the_debug_form() {
    let text = r#"{ "mcpServers": {
        "a": { "command": "a", "args": ["${TOKEN}"], "env": { "A": "${TOKEN}" } },
        "b": { "url": "https://example.com/?${TOKEN}", "headers": { "A": "${TOKEN}" } } } }"#;
    let file = ServersFile::from_json(text, ".mcp.json", &variable).unwrap();
    assert!(!format!("{file:?}").contains("s3cret"));
    let Transport::Http(service) = &file.servers[1].transport else { panic!("it is a service") };
    assert_eq!(
        (service.url.as_str(), &*service.headers["A"]),
        ("https://example.com/?s3cret-value", "s3cret-value")
    );
}

#[test]
fn reads_as_whom_one_logs_in() {
    check(
        r#"
[mcp.servers.docs]
url = "https://mcp.example.com/mcp"
authorities = "/etc/company.pem"

[mcp.servers.docs.login]
client_id = "haft"
client_secret = "${TOKEN}"
issuer = "https://login.example.com"
scopes = ["read", "write"]
redirect_port = 8765

[mcp.servers.described]
url = "https://mcp.example.com/mcp"
login = { client_metadata_url = "https://example.com/haft.json" }
"#,
        &expect![[r#"
            docs Http(RemoteServer { url: "https://mcp.example.com/mcp", headers: [], .. })
              LoginConfig { client: Some(RegisteredClient { id: "haft", issuer: Some("https://login.example.com"), .. }), client_metadata_url: None, scopes: ["read", "write"], redirect_port: Some(8765) } Some("/etc/company.pem")
            described Http(RemoteServer { url: "https://mcp.example.com/mcp", headers: [], .. })
              LoginConfig { client: None, client_metadata_url: Some("https://example.com/haft.json"), scopes: [], redirect_port: None } None
        "#]],
    );
    check(
        r#"{ "mcpServers": {
  "claude": { "type": "http", "url": "https://a.example", "oauth": { "clientId": "c", "callbackPort": 8080, "scopes": "read write" } },
  "cursor": { "url": "https://a.example", "auth": { "CLIENT_ID": "c", "scopes": ["read"] } }
} }"#,
        &expect![[r#"
            claude Http(RemoteServer { url: "https://a.example/", headers: [], .. })
              LoginConfig { client: Some(RegisteredClient { id: "c", issuer: None, .. }), client_metadata_url: None, scopes: ["read", "write"], redirect_port: Some(8080) } None
            cursor Http(RemoteServer { url: "https://a.example/", headers: [], .. })
              LoginConfig { client: Some(RegisteredClient { id: "c", issuer: None, .. }), client_metadata_url: None, scopes: ["read"], redirect_port: None } None
        "#]],
    );
}

#[test]
fn what_is_wrong_with_a_login_is_told() {
    check(
        r#"{ "mcpServers": {
  "unbound": { "url": "https://a.example", "oauth": { "clientId": "c", "clientSecret": "${TOKEN}" } },
  "ownerless": { "url": "https://a.example", "oauth": { "clientSecret": "${TOKEN}", "issuer": "https://b.example" } },
  "plain": { "url": "https://a.example", "oauth": { "clientId": "", "issuer": "http://b.example", "callbackPort": 0 } },
  "unset": { "url": "https://a.example", "oauth": { "clientId": "c", "clientSecret": "${MISSING}", "issuer": "https://b.example" } },
  "kind": { "url": "https://a.example", "oauth": true },
  "odd": { "url": "https://a.example", "oauth": { "authServerMetadataUrl": "https://b.example", "clientld": "c" } },
  "program": { "command": "a", "oauth": { "clientId": "c" } }
} }"#,
        &expect![[r#"
            odd Http(RemoteServer { url: "https://a.example/", headers: [], .. })
            program Stdio(ServerProgram { command: "a", arguments: 0 not shown, variables: [], directory: None })
            refused .mcp.json:2:88: server `unbound`: `oauth.clientSecret`: nothing says which authorization server it is for, and it is given to no other; write its address as `issuer`
            refused .mcp.json:3:73: server `ownerless`: `oauth.clientSecret`: it is of no client; write its `client_id`
            refused .mcp.json:4:65: server `plain`: `oauth.clientId`: it is empty, or holds a control character; write it, or remove it
            refused .mcp.json:4:79: server `plain`: `oauth.issuer`: it is neither `https` nor on this machine; write `https`
            refused .mcp.json:4:115: server `plain`: `oauth.callbackPort`: it is not a port; write a number from 1 to 65535
            refused .mcp.json:5:86: server `unset`: `oauth.clientSecret`: the variable `MISSING` is not set; set it, or write a default as in `${MISSING:-…}`
            refused .mcp.json:6:50: server `kind`: `oauth`: it is true or false; write a table
            warning .mcp.json:7:51: server `odd`: `oauth.authServerMetadataUrl`: it has no effect here; the server says where to log in, and `issuer` which one it may name
            warning .mcp.json:7:97: server `odd`: `oauth.clientld`: it is not known, and has no effect; did you mean `client_id`?
            warning .mcp.json:8:32: server `program`: `oauth`: it has no effect on a server that is reached by `command`
        "#]],
    );
}

#[test]
fn a_server_is_the_same_one_when_a_variable_changes() {
    let text = r#"{ "mcpServers": {
        "a": { "command": "${TOKEN:-a}", "args": ["--key=${TOKEN}"], "cwd": "${TOKEN}" },
        "b": { "url": "https://example.com/?${TOKEN}" },
        "c": { "url": "https://example.com/?other" } } }"#;
    let identities = |text: &str, token: &str| -> Vec<ServerIdentity> {
        let file = ServersFile::from_json(text, ".mcp.json", &|_| Some(token.to_owned())).unwrap();
        file.servers.iter().map(ServerIdentity::of).collect()
    };
    let one = identities(text, "one");
    assert_eq!(one, identities(text, "other"));
    // What is written is another server.
    let changed = text.replace("--key", "--other-key").replace('?', "mcp?");
    assert!(identities(&changed, "one").iter().zip(&one).all(|(one, other)| one != other));
    // One whose file says no variable is the one that a host would configure itself.
    let plain = ServerConfig::new(
        "c".parse().unwrap(),
        Transport::Http(RemoteServer::new("https://example.com/?other")),
    );
    assert_eq!(one[2], ServerIdentity::of(&plain));
}

#[test]
fn a_program_is_told_apart_by_where_it_is_configured_to_start() {
    let text = r#"{ "mcpServers": { "a": { "command": "a", "cwd": "${TOKEN}" } } }"#;
    let identity = |directory: &str| {
        let file = ServersFile::from_json(text, ".mcp.json", &variable).unwrap();
        let server = file.servers[0].clone().in_directory(directory.as_ref());
        let Transport::Stdio(program) = &server.transport else { panic!("it is a program") };
        assert_eq!(
            program.directory.as_deref(),
            Some(std::path::Path::new(directory).join("s3cret-value").as_path())
        );
        ServerIdentity::of(&server)
    };
    assert_eq!(identity("/a"), identity("/a"));
    assert_ne!(identity("/a"), identity("/b"));
}
