//! Turn an OpenAPI document into tools
//!
//! Each operation becomes a tool with a schema of its own, and the document says no more than that: which server is asked, whose key is
//! shown, and what may be called is said by the host. Here the petstore is a server of this machine. With `serve 127.0.0.1:4010` the
//! program only is the petstore, for the `haft` command to call.

#![expect(clippy::print_stdout, reason = "an example that speaks on the terminal")]

mod store;

use haft::http::{AddressPolicy, HttpClient};
use haft::openapi::{Credential, Document, LoadOptions, OpenApiTools, Selection};
use haft::tools_core::Catalog;
use haft::{
    AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, ToolCall, ToolExecutor as _,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use store::Store;

const NET: Scheme = Scheme::new("net");
const OPENAPI: Scheme = Scheme::new("openapi");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => print!("{}", visit().await?),
        ["serve", address] => {
            let store = Store::open(address).await?;
            println!("The petstore is open at http://{}/v1", store.address);
            std::future::pending::<()>().await;
        }
        _ => return Err("it takes nothing, or `serve ADDRESS`".into()),
    }
    Ok(())
}

/// Opens a petstore, calls its operations, and tells what came of it.
async fn visit() -> Result<String, Box<dyn Error>> {
    let store = Store::open("127.0.0.1:0").await?;
    let server = format!("http://{}/v1", store.address);

    // The document says neither where the store is nor who asks. The host says both, and that it is on this machine.
    let document =
        Document::from_text(include_str!("../petstore.yaml"), &LoadOptions::default().server(server))?;
    let client = HttpClient::new(AddressPolicy::public().loopback())?;
    let credentials = BTreeMap::from([("api_key".to_owned(), Credential::secret("open sesame"))]);
    let petstore = OpenApiTools::builder("petstore", document, client)
        .selection(Selection::default().without_operations(["removePet"]))
        .credentials(credentials)
        .build();
    let catalog = Catalog::builder().source(petstore).build()?;
    catalog.refresh().await;
    let tools = catalog.snapshot();

    let mut told = String::new();
    for spec in tools.iter() {
        writeln!(told, "{}: {}", spec.name(), spec.description())?;
    }

    // The store may be connected to, and its operations called, but for one that nobody has allowed.
    let connect = Rule::access(AccessMode::Connect, Resource::exact(NET, store.address.to_string()));
    let call =
        |name: &str| Rule::access(AccessMode::Call, Resource::exact(OPENAPI, format!("petstore/{name}")));
    let policy = Policy::new().allow(connect).allow(call("addPet")).allow(call("findPets"));
    let executor = LocalExecutor::builder(tools).policy(policy).build();
    let calls = [
        ("petstore__addPet", json!({ "name": "Rex & Co", "tags": ["good", "small"] })),
        ("petstore__findPets", json!({ "tags": ["good", "a,b"], "limit": 10 })),
        ("petstore__findPets", json!({ "limit": 1000 })),
        ("petstore__showPet", json!({ "name": "../secrets" })),
    ];
    for (name, input) in calls {
        writeln!(told, "\n{name} {input}")?;
        writeln!(told, "{}", reply(&executor, name, input).await?)?;
    }
    Ok(told)
}

async fn reply(executor: &LocalExecutor, name: &str, input: Value) -> Result<String, Box<dyn Error>> {
    let call = ToolCall::new("c1".parse()?, name, input);
    let batch = Batch::new(CallScope::new("visit".parse()?), vec![call]);
    let replies = executor.execute_batch(batch).await.into_replies()?;
    let reply = replies.first().ok_or("there is no reply")?;
    Ok(format!("{}: {}", reply.status, reply.output.to_text()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[tokio::test]
    async fn operations_are_called_as_the_policy_says() {
        let told = super::visit().await.unwrap_or_else(|error| error.to_string());
        expect![[r#"
            petstore__addPet: Adds a pet.
            petstore__findPets: Finds pets by their tags.
            petstore__showPet: Shows a pet.

            petstore__addPet {"name":"Rex & Co","tags":["good","small"]}
            ok: {"id":1,"name":"Rex & Co","tags":["good","small"]}

            petstore__findPets {"limit":10,"tags":["good","a,b"]}
            ok: {"asked":"?limit=10&tags=good,a%2Cb","pets":[{"id":1,"name":"Rex & Co","tags":["good","small"]}]}

            petstore__findPets {"limit":1000}
            error: invalid input: the arguments do not fit `petstore__findPets`:
            - at `/limit`: 1000 is greater than the maximum of 100
            correct them and call the tool again

            petstore__showPet {"name":"../secrets"}
            denied: this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need
        "#]].assert_eq(&told);
    }
}
