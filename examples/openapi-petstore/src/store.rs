//! A petstore of this machine, of which everything is forgotten when it ends.

use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Is the server; dropped, it ends.
pub(crate) struct Store {
    pub(crate) address: SocketAddr,
    _serving: JoinSet<()>,
}

impl Store {
    pub(crate) async fn open(address: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut pets = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                // A client that goes away takes nobody else with it.
                let _ = serve(stream, &mut pets).await;
            }
        });
        Ok(Self { address, _serving: serving })
    }
}

/// Answers one request.
async fn serve(mut stream: TcpStream, pets: &mut Vec<Value>) -> std::io::Result<()> {
    let mut reader = BufReader::new(&mut stream);
    let mut first = String::new();
    reader.read_line(&mut first).await?;
    let (mut key, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "x-api-key" => value.clone_into(&mut key),
            "content-length" => length = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, reply) = match (method, path.strip_prefix("/v1/pets").unwrap_or_default()) {
        _ if key != "open sesame" => ("401 Unauthorized", json!({ "error": "who are you?" })),
        ("POST", "") => {
            let mut pet: Value = serde_json::from_slice(&body).unwrap_or_default();
            pet["id"] = json!(pets.len() + 1);
            pets.push(pet.clone());
            ("201 Created", pet)
        }
        ("GET", rest) if rest.is_empty() || rest.starts_with('?') => {
            ("200 OK", json!({ "pets": pets, "asked": rest }))
        }
        ("GET", name) => match pets.iter().find(|pet| pet["name"] == name.trim_start_matches('/')) {
            Some(pet) => ("200 OK", pet.clone()),
            None => ("404 Not Found", json!({ "error": "there is no such pet" })),
        },
        _ => ("405 Method Not Allowed", json!({})),
    };
    let reply = reply.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        reply.len()
    );
    stream.write_all(format!("{head}{reply}").as_bytes()).await
}
