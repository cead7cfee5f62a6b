//! `haft openapi`, and the operations of documents in other commands.

mod faults;

use crate::mcp::User;
use expect_test::{Expect, expect};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Stdio;
use std::thread::JoinHandle;

const PETS: &str = r#"
openapi: 3.1.0
info: { title: Pets, version: "1" }
servers: [ { url: SERVER } ]
security: [ { key: [] } ]
paths:
  /pets/{id}:
    get:
      operationId: showPet
      summary: Shows a pet.
      tags: [read]
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - { name: fields, in: query, schema: { type: array, items: { type: string } } }
  /pets:
    post:
      operationId: pets/add
      summary: Adds a pet.
      deprecated: true
      requestBody:
        required: true
        content: { application/json: { schema: { type: object, required: [name], properties: { name: { type: string } } } } }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Key }
"#;

const BROKEN: &str = r##"{
    "openapi": "3.0.3",
    "info": { "title": "Half broken", "version": "1" },
    "paths": {
        "/good": { "get": { "operationId": "good", "summary": "Works." } },
        "/lost/{id}": { "get": { "parameters": [{ "$ref": "#/components/parameters/Lost" }] } },
        "/text": { "post": "not an operation" },
        "/place": { "put": { "parameters": [
            { "name": "a", "in": "query" }, { "name": "b", "in": "somewhere", "required": true }
        ] } }
    }
}"##;

/// Answers requests with their first lines, their keys and their bodies; gives the address.
pub(crate) fn api(requests: usize) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serve = move || {
        for stream in listener.incoming().take(requests) {
            answer(&stream.unwrap());
        }
    };
    (address, std::thread::spawn(serve))
}

fn answer(mut stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut key, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "x-key" => value.clone_into(&mut key),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let asked = first.trim().trim_end_matches(" HTTP/1.1");
    let key = if key == "s3cret" { "the key" } else { "no key" };
    let told = serde_json::json!({ "asked": asked, "with": key, "body": String::from_utf8(body).unwrap() })
        .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        told.len()
    );
    stream.write_all(format!("{head}{told}").as_bytes()).unwrap();
}

/// Is a user with documents in their workspace.
fn user() -> User {
    let user = User::new();
    user.write_file("pets.yaml", &PETS.replace("SERVER", "https://pets.example/v1"));
    user.write_file("broken.json", BROKEN);
    user.write_file("notes.txt", "three apples");
    user
}

/// Is the same user with the pets in their configuration.
pub(crate) fn configured(address: &str) -> User {
    configured_with(address, "")
}

fn configured_with(address: &str, more: &str) -> User {
    let user = user();
    let configuration = format!(
        "[openapi.pets]\ndocument = \"{}\"\nserver = \"{address}/v1\"\ncredentials.key = \"${{TOKEN}}\"\n{more}",
        user.path("pets.yaml")
    );
    user.write_config("haft.toml", &configuration);
    user
}

/// Checks a command with words for where the API is, which differs from time to time.
#[track_caller]
fn check_at(user: &User, address: &str, arguments: &[&str], expected: &Expect) {
    let host = address.trim_start_matches("http://");
    expected.assert_eq(&user.shown(arguments).replace(host, "ADDRESS"));
}

fn check(arguments: &[&str], expected: &Expect) {
    user().check(arguments, expected);
}

#[test]
fn what_becomes_of_a_document_is_said_with_what_is_left_out() {
    check(
        &["openapi", "check", "pets.yaml"],
        &expect![[r"
        Pets: 2 tools, about 101 tokens
          pets__pets_add  POST /pets  45 tokens
          pets__showPet   GET /pets/{id}  56 tokens
        exit 0
    "]],
    );
    check(
        &["openapi", "check", "broken.json"],
        &expect![[r"
        Half broken: 1 tool, about 31 tokens
          broken__good  GET /good  31 tokens

        1 tool without a server: the document says `/`, and not which host that is on; name it with `--server`, or with `server` in the configuration

        3 operations left out
          GET /lost/{id}: the reference `#/components/parameters/Lost` leads nowhere
            at /paths/~1lost~1{id}/get/parameters/0
          PUT /place: a required parameter does not say clearly where it belongs
            at /paths/~1place/put/parameters/1
          POST /text: an operation must be an object
            at /paths/~1text/post
        exit 1
    "]],
    );
    check(
        &["openapi", "check", "broken.json", "--json"],
        &expect![[r#"
        {
          "not_chosen": 0,
          "notes": [],
          "skipped": [
            {
              "message": "the reference `#/components/parameters/Lost` leads nowhere",
              "operation": "GET /lost/{id}",
              "pointer": "/paths/~1lost~1{id}/get/parameters/0"
            },
            {
              "message": "a required parameter does not say clearly where it belongs",
              "operation": "PUT /place",
              "pointer": "/paths/~1place/put/parameters/1"
            },
            {
              "message": "an operation must be an object",
              "operation": "POST /text",
              "pointer": "/paths/~1text/post"
            }
          ],
          "title": "Half broken",
          "tokens": 31,
          "tools": [
            {
              "id": "good",
              "name": "broken__good",
              "no_server": "the document says `/`, and not which host that is on",
              "notes": [],
              "operation": "GET /good",
              "shortened": false,
              "tokens": 31
            }
          ]
        }
        exit 1
    "#]],
    );
    check(
        &["openapi", "check", "broken.json", "--strict", "--server", "https://a.example"],
        &expect![[r"
            Half broken: 1 tool, about 31 tokens
              broken__good  GET /good  31 tokens

            3 operations left out
              GET /lost/{id}: the reference `#/components/parameters/Lost` leads nowhere
                at /paths/~1lost~1{id}/get/parameters/0
              PUT /place: a required parameter does not say clearly where it belongs
                at /paths/~1place/put/parameters/1
              POST /text: an operation must be an object
                at /paths/~1text/post
            exit 1
        "]],
    );
    check(
        &["openapi", "check", "pets.yaml", "--tag", "write"],
        &expect![[r"
        Pets: 0 tools, about 0 tokens
        2 operations not chosen
        exit 1
    "]],
    );
}

#[test]
fn what_is_no_document_is_a_mistake_of_the_command_line() {
    check(
        &["openapi", "check", "nothing.yaml"],
        &expect![[r#"
            stderr: error: there is no document `nothing.yaml`; name a file, an address, or a document of `haft.toml`
            exit 2
        "#]],
    );
    check(
        &["openapi", "check", "notes.txt"],
        &expect![[r#"
            stderr: error: cannot use the document `notes.txt`; name a file, an address, or a document of `haft.toml`
            stderr:   because: this is not an OpenAPI document: it is not an object
            exit 2
        "#]],
    );
    check(
        &["openapi", "check", "pets.yaml", "--path", "[z-a]"],
        &expect![[r#"
        stderr: error: cannot read the pattern of paths "[z-a]": error parsing glob '[z-a]': invalid range; 'z' > 'a'
        exit 2
    "#]],
    );
    check(
        &["openapi", "check", "HTTP://127.0.0.1:1/openapi.json"],
        &expect![[r#"
            stderr: error: cannot use the document `HTTP://127.0.0.1:1/openapi.json`; name a file, an address, or a document of `haft.toml`
            stderr:   because: cannot read `http://127.0.0.1:1/openapi.json`
            stderr:   because: cannot connect to `127.0.0.1`
            stderr:   because: error sending request
            stderr:   because: client error (Connect)
            stderr:   because: tcp connect error
            stderr:   because: Connection refused (os error 111)
            exit 2
        "#]],
    );
}

#[test]
fn operations_are_listed() {
    check(
        &["openapi", "list", "pets.yaml"],
        &expect![[r"
        pets_add  POST /pets  Adds a pet.  deprecated
        showPet   GET /pets/{id}  Shows a pet.
        exit 0
    "]],
    );
    check(
        &["openapi", "list", "pets.yaml", "--no-deprecated"],
        &expect![[r"
        showPet  GET /pets/{id}  Shows a pet.
        exit 0
    "]],
    );
    check(
        &["openapi", "list", "pets.yaml", "--method", "put"],
        &expect![[r"
        No operation is chosen; `haft openapi check` says what is left out.
        exit 0
    "]],
    );
    check(
        &["openapi", "list"],
        &expect![[r#"
            There are no documents; add one to `haft.toml`, yours or the workspace's, as in

              [openapi.petstore]
              document = "https://petstore3.swagger.io/api/v3/openapi.json"
            exit 0
        "#]],
    );
    check(
        &["openapi", "list", "--tag", "a"],
        &expect![[r"
        stderr: error: name the document that is meant before what to choose of it
        exit 2
    "]],
    );
}

#[test]
fn operations_are_called_as_the_policy_says() {
    let (address, api) = api(1);
    let user = user();
    let show = ["openapi", "call", "broken.json", "good", "--server", &address];
    user.check(&show, &expect![[r"
        stderr: denied: this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need
        exit 1
    "]]);
    user.check(
        &[&show[..], &["--yes"]].concat(),
        &expect![[r#"
        {"asked":"GET /good","body":"","with":"no key"}
        exit 0
    "#]],
    );
    user.check(
        &["openapi", "call", "broken.json", "goood"],
        &expect![[r"
        stderr: error: the document `broken.json` has no operation `goood`; did you mean `good`?
        exit 2
    "]],
    );
    user.check(&["openapi", "call", "broken.json", "good", "--input", "x"], &expect![[r#"
        stderr: error: the arguments on the command line are not JSON; write one object, as in '{"path": "README.md"}'
        stderr:   because: expected value at line 1 column 1
        exit 2
    "#]]);
    user.check(
        &["openapi", "call", "pets.yaml", "GET /pets/{id}", "--input", r#"{"id":"1"}"#, "--yes"],
        &expect![[r"
            stderr: error: unauthenticated: the API `pets` wants a credential: `key`, for which there is none; nothing was sent, ask the person who set it up to give one
            exit 1
        "]],
    );
    api.join().unwrap();
}

#[test]
fn documents_of_the_configuration_are_tools_of_every_command() {
    let (address, api) = api(2);
    let user = configured_with(&address, "\n[tools]\nselect = \"pets__*, read_file\"\n");
    let check = |arguments: &[&str], expected: &Expect| check_at(&user, &address, arguments, expected);
    check(
        &["openapi", "list"],
        &expect![[r"
        pets  WORKSPACE/pets.yaml
        exit 0
    "]],
    );
    check(
        &["tools"],
        &expect![[r#"
            pets__pets_add  Adds a pet.
                            name
            pets__showPet   Shows a pet.
                            id [fields]
            read_file       Reads a text file of the working directory, or several with `more`.
                            path [byte_range] [limit] [more] [offset]

            Call one with `haft call NAME JSON`; `haft tools --json` prints everything a model is told.
            exit 0
        "#]],
    );
    let input = r#"{"id":"a/b","fields":["x","y"]}"#;
    check(
        &["call", "pets__showPet", input, "--yes"],
        &expect![[r#"
        {"asked":"GET /v1/pets/a%2Fb?fields=x&fields=y","body":"","with":"the key"}
        exit 0
    "#]],
    );
    check(
        &["openapi", "call", "pets", "pets/add", "--input", r#"{"name":"Rex"}"#, "--yes"],
        &expect![[r#"
            {"asked":"POST /v1/pets","body":"{\"name\":\"Rex\"}","with":"the key"}
            exit 0
        "#]],
    );
    check(
        &["call", "pets__showPet", input],
        &expect![[r"
        stderr: waiting for an approval: `pets__showPet` wants to
        stderr:   connect net:ADDRESS
        stderr:   call openapi:pets/showPet
        stderr:   haft approvals show ID
        stderr:   haft approvals approve ID
        stderr: Answer it, then go on with `haft resume RUN`.
        exit 3
    "]],
    );
    check(
        &["call", "pets__showPets", input],
        &expect![[r"
        stderr: error: unknown tool: there is no tool `pets__showPets`; did you mean `pets__showPet`?
        exit 1
    "]],
    );
    check(
        &["call", "pets__showPet", input, "--no-openapi"],
        &expect![[r#"
            stderr: error: unknown tool: there is no tool `pets__showPet`; the only tool is `read_file`
            exit 1
        "#]],
    );
    api.join().unwrap();
}

#[test]
fn rules_speak_of_operations_of_the_configuration() {
    let (address, api) = api(1);
    let user = configured(&address);
    let check = |arguments: &[&str], expected: &Expect| check_at(&user, &address, arguments, expected);
    let input = r#"{"id":"a/b","fields":["x","y"]}"#;
    let explained = format!(r#"{{"tool":"pets__showPet","input":{input}}}"#);
    check(
        &["policy", "explain", &explained],
        &expect![[r#"
            ask  pets__showPet {"fields":["x","y"],"id":"a/b"}

              ask    connect net:ADDRESS
                     no rule speaks of it; `127.0.0.1` is not of the public internet: `*` does not allow it
                     to change it: a rule that allows it, or a person's word each time

              ask    call openapi:pets/showPet
                     no rule speaks of it
                     to change it: a rule that allows it, such as `call(openapi:pets/showPet)`

            decided by profile read_only, $XDG_CONFIG_HOME/haft/haft.toml, in the mode default
            exit 0
        "#]],
    );
    let rules = "[permissions]\nallow = [\"call(@pets/showPet)\", \"connect(127.0.0.1:*)\"]\n";
    user.write_file("rules.toml", rules);
    check(
        &["call", "pets__showPet", input, "--policy", "rules.toml"],
        &expect![[r#"
        {"asked":"GET /v1/pets/a%2Fb?fields=x&fields=y","body":"","with":"the key"}
        exit 0
    "#]],
    );
    api.join().unwrap();
}

#[test]
fn a_document_in_the_current_directory_may_refer_to_what_is_beside_it() {
    let user = user();
    user.write_file("parts.yaml", "things: { get: { operationId: listThings, summary: Lists things. } }\n");
    let whole = "openapi: 3.1.0\npaths: { /things: { $ref: \"parts.yaml#/things\" } }\n";
    user.write_file("whole.yaml", whole);
    user.check(
        &["openapi", "list", "whole.yaml"],
        &expect![[r"
        listThings  GET /things  Lists things.
        exit 0
    "]],
    );
    std::fs::create_dir(user.path("sub")).unwrap();
    user.write_file("sub/whole.yaml", whole);
    user.write_file("sub/parts.yaml", "things: { get: { operationId: others } }\n");
    user.check(
        &["openapi", "list", "sub/whole.yaml"],
        &expect![[r"
        others  GET /things
        exit 0
    "]],
    );
}

#[test]
fn operations_whose_tools_are_called_otherwise_are_shown_and_called() {
    let (address, api) = api(2);
    let user = user();
    let long = "listEverythingThatThereIsInTheWarehouseOfTheNorthernRegion";
    let operations = format!(
        "openapi: 3.1.0\npaths:\n  /long: {{ get: {{ operationId: {long} }} }}\n  \
         /like: {{ get: {{ operationId: build_0123456789ab }} }}\n"
    );
    user.write_file("names.yaml", &operations);
    let server = ["--server", address.as_str()];
    let with = |arguments: &[&'static str]| -> Vec<String> {
        arguments.iter().chain(&server).map(|argument| (*argument).to_owned()).collect()
    };
    let check = |arguments: &[&'static str], expected: &Expect| {
        let all = with(arguments);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        check_at(&user, &address, &all, expected);
    };
    check(
        &["openapi", "check", "names.yaml"],
        &expect![[r"
        names.yaml: 2 tools, about 108 tokens
          names__build_0123456789ab_f477aeb9d3d9_b3de6b161d05               GET /like  57 tokens
          names__listEverythingThatThereIsInTheWarehouseOfThe_90fff70e4252  GET /long  51 tokens
        exit 0
    "]],
    );
    check(
        &["openapi", "list", "names.yaml"],
        &expect![[r"
        build_0123456789ab_f477aeb9d3d9                             GET /like
        listEverythingThatThereIsInTheWarehouseOfTheNorthernRegion  GET /long
        exit 0
    "]],
    );
    check(
        &["openapi", "call", "names.yaml", "GET /long", "--yes"],
        &expect![[r#"
        {"asked":"GET /long","body":"","with":"no key"}
        exit 0
    "#]],
    );
    check(
        &["openapi", "call", "names.yaml", "build_0123456789ab", "--yes"],
        &expect![[r#"
        {"asked":"GET /like","body":"","with":"no key"}
        exit 0
    "#]],
    );
    api.join().unwrap();
}

#[test]
fn clients_are_served_the_operations_of_the_configuration() {
    let user = configured("http://127.0.0.1:9");
    let mut command = user.command(&["serve", "--no-roots"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let begin = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let ready = serde_json::json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let list = serde_json::json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    write!(input, "{begin}\n{ready}\n{list}\n").unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answers = lines.map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let listed = answers.into_iter().find(|answer| answer["id"] == 2).unwrap();
    drop(input);
    child.wait().unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "pets__showPet"), "{listed}");
}
