use super::ServersFile;
use super::entry::{DESCRIBING, FIELDS, LIMITS, LOGIN_FIELDS};
use crate::LogLevel;
use serde_json::{Map, Value, json};

impl ServersFile {
    /// Gives the JSON Schema of one table `[mcp.servers.NAME]`, for editors.
    ///
    /// All that is read without a warning fits it, with the names that other clients have for fields, and a field that has
    /// no effect does not.
    ///
    /// ```
    /// use haft_mcp::ServersFile;
    ///
    /// let schema = ServersFile::schema();
    /// assert_eq!(schema["properties"]["args"]["items"]["type"][0], "string");
    /// assert_eq!(schema["additionalProperties"], false);
    /// ```
    pub fn schema() -> Value {
        let mut properties = Map::new();
        for (name, others) in FIELDS {
            let schema = field(name);
            properties.extend(others.iter().map(|other| ((*other).to_owned(), as_other(&schema, name))));
            properties.insert(name.to_owned(), schema);
        }
        properties.extend(DESCRIBING.iter().map(|name| {
            ((*name).to_owned(), json!({ "description": "It only describes the server, and has no effect." }))
        }));
        json!({
            "type": "object",
            "description": "A server of the Model Context Protocol whose tools are tools here.",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

fn field(name: &str) -> Value {
    match name {
        "command" => {
            let program = json!({ "anyOf": [text(), { "type": "array", "items": text(), "minItems": 1 }] });
            said(program, "The program that is started: a path, or a name that is looked for in PATH.")
        }
        "args" => said(
            texts(),
            "What the program is called with; `${VAR}` and `${VAR:-default}` stand for variables.",
        ),
        "env" => said(
            pairs(),
            "Variables that the program is given besides a small set of harmless ones; write secrets as `${VAR}`.",
        ),
        "cwd" => said(text(), "Where the program is started."),
        "url" => said(text(), "The address of a service: `https`, or `http` on this machine."),
        "headers" => {
            said(pairs(), "Headers that each request to the service is given; write secrets as `${VAR}`.")
        }
        "login" => login(),
        "authorities" => {
            said(text(), "A file of certificates (PEM) of authorities that are trusted besides the system's.")
        }
        "unix" => said(text(), "A socket of this machine at which the server listens."),
        "type" => said(
            json!({ "enum": ["stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "unix"] }),
            "How it is reached, where that does not follow from the other fields.",
        ),
        "disabled" => said(switch(), "Leaves the server out."),
        "enabled" => said(switch(), "Leaves the server out where it is false."),
        "start" => said(
            json!({ "enum": ["lazy", "eager"] }),
            "When it is started: when its tools are first asked for, or at once.",
        ),
        "era" => said(
            json!({ "enum": ["legacy", "modern"] }),
            "The era of the protocol that it speaks; found out by default.",
        ),
        "log_level" => {
            let mut levels = vec!["none"];
            levels.extend(LogLevel::ALL.map(LogLevel::as_str));
            said(json!({ "enum": levels }), "From which level on its log is asked for; `info` by default.")
        }
        "resource_tools" => said(switch(), "Offers its resources as `list_resources` and `read_resource`."),
        "limits" => limits(),
        "orders_itself" => said(switch(), "Its calls need no order, since the server keeps them apart."),
        _ => said(
            json!({ "type": "array", "items": { "type": "string" } }),
            "The tools that may be called once more if the server did not survive the call.",
        ),
    }
}

fn login() -> Value {
    let mut properties = Map::new();
    for (name, others) in LOGIN_FIELDS {
        let schema = match name {
            "client_id" => said(text(), "The client that was registered beforehand."),
            "client_secret" => said(text(), "Its secret; write it as `${VAR}`."),
            "issuer" => said(text(), "The authorization server that the client is registered with."),
            "client_metadata_url" => said(text(), "A document that describes the client."),
            "scopes" => said(json!({ "anyOf": [text(), texts()] }), "What is asked for."),
            _ => said(
                json!({ "type": ["string", "integer"] }),
                "The port of this machine that one comes back to, from 1 to 65535.",
            ),
        };
        properties.extend(others.iter().map(|other| ((*other).to_owned(), as_other(&schema, name))));
        properties.insert(name.to_owned(), schema);
    }
    said(
        json!({ "type": "object", "properties": properties, "additionalProperties": false }),
        "As whom to log in to the service; found out by default.",
    )
}

fn limits() -> Value {
    let time = |what: &str| {
        let time =
            json!({ "type": "string", "pattern": r"^\s*[0-9.]+\s*(ms|s|min|m|h)\s*$", "examples": ["30s"] });
        said(time, what)
    };
    let mut properties = Map::new();
    for (name, others) in LIMITS {
        let schema = match name {
            "start_timeout" => time("How long it may take to start; 30 s by default."),
            "probe_timeout" => time(
                "How long it may take to answer in the modern era before the legacy one is tried; 3 s by default.",
            ),
            "idle_timeout" => time("How long a call may be without news; 60 s by default."),
            "timeout" => time("How long a call may take in all; 10 minutes by default."),
            "message" => said(
                json!({ "type": ["integer", "string"], "minimum": 0, "pattern": r"^\s*[0-9]+\s*(B|KiB|MiB|K|M)?\s*$" }),
                "How large a message may be; 16 MiB by default.",
            ),
            "restarts" => said(
                json!({ "type": ["integer", "string"], "minimum": 0, "pattern": r"^\+?[0-9]+$" }),
                "How often it is restarted within `restart_window`; 5 times by default.",
            ),
            _ => time("The time in which restarts are counted; 5 minutes by default."),
        };
        properties.extend(others.iter().map(|other| ((*other).to_owned(), as_other(&schema, name))));
        properties.insert(name.to_owned(), schema);
    }
    said(
        json!({ "type": "object", "properties": properties, "additionalProperties": false }),
        "What the server may take.",
    )
}

/// Numbers and switches are taken as they are written.
fn text() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn pairs() -> Value {
    json!({ "type": "object", "additionalProperties": text() })
}

fn switch() -> Value {
    json!({ "type": "boolean" })
}

fn said(mut schema: Value, what: &str) -> Value {
    schema["description"] = what.into();
    schema
}

/// Is a field under the name that another client has for it.
fn as_other(schema: &Value, name: &str) -> Value {
    let mut schema = schema.clone();
    schema["description"] = format!("The same as `{name}`.").into();
    schema["deprecated"] = true.into();
    schema
}
