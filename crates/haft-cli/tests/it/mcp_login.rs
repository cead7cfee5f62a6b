//! `haft mcp login`, as a person and a browser go through it.

use crate::mcp::User;
use expect_test::expect;
use haft::mcp::{CredentialStore as _, FileCredentials};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;

/// Serves a server that wants a login, with its authorization server, and gives their address.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let own = url.clone();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let own = own.clone();
            // A client that leaves early misses nothing.
            thread::spawn(move || answer(stream, &own).ok());
        }
    });
    url
}

fn answer(mut stream: TcpStream, own: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap_or_default();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let (status, text) = match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            ("200 OK", json!({ "resource": format!("{own}/mcp"), "authorization_servers": [own] }))
        }
        "/.well-known/oauth-authorization-server" => (
            "200 OK",
            json!({
                "issuer": own, "authorization_endpoint": format!("{own}/authorize"), "token_endpoint": format!("{own}/token"),
                "registration_endpoint": format!("{own}/register"), "code_challenge_methods_supported": ["S256"],
                "response_types_supported": ["code"]
            }),
        ),
        "/register" => {
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            ("201 Created", json!({ "client_id": "c", "redirect_uris": asked["redirect_uris"] }))
        }
        "/mcp" => ("401 Unauthorized\r\nwww-authenticate: Bearer", Value::Null),
        _ => ("404 Not Found", Value::Null),
    };
    let text = text.to_string();
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    )
}

/// A part of the query of an address, with the signs that redirects have.
fn part(url: &str, name: &str) -> String {
    let (_, query) = url.split_once('?').unwrap();
    let part = query.split('&').find_map(|part| part.strip_prefix(&format!("{name}="))).unwrap();
    part.replace("%3A", ":").replace("%2F", "/")
}

#[test]
fn a_login_that_is_refused_in_the_browser_ends_the_command() {
    let (user, url) = (User::new(), serve());
    user.write(&json!({ "mcpServers": { "docs": { "url": format!("{url}/mcp") } } }).to_string());
    assert!(user.command(&["mcp", "trust"]).output().unwrap().status.success());
    let mut login = user.command(&["mcp", "login", "docs"]);
    let mut login = login.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(login.stdout.take().unwrap()).lines().map(Result::unwrap);
    let page = said.find(|line| line.starts_with("http://")).unwrap();
    let back = part(&page, "redirect_uri");
    let (host, path) = back.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut browser = TcpStream::connect(host).unwrap();
    let state = part(&page, "state");
    let query = format!("error=access_denied&error_description=not%20today%1B%5B31m&state={state}");
    write!(browser, "GET /{path}?{query} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    let output = login.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    expect![[r#"
        error: the login to the MCP server `docs` failed: the authorization server says "access_denied": "not today\u{1b}[31m"
    "#]].assert_eq(&told);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn with_a_server_the_login_to_it_is_removed() {
    const URL: &str = "https://mcp.example.com/mcp";
    let user = User::new();
    user.write_config("haft.toml", &format!("[mcp.servers.docs]\nurl = \"{URL}\"\n"));
    let logins = FileCredentials::new(user.home().join("state/haft/mcp-logins"));
    logins.save(URL, "{}").unwrap();
    assert!(user.command(&["mcp", "remove", "docs"]).output().unwrap().status.success());
    assert_eq!(logins.load(URL).unwrap(), None);
}
