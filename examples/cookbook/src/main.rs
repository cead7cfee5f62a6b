//! Tasks that users of agents have, each as a program of a page: `cargo run -p cookbook -- NAME`.
//!
//! `docs/cookbook.md` is made of them.
#![expect(clippy::print_stdout, reason = "examples that speak on the terminal")]

mod approve_later;
mod ask_a_person;
mod delegate;
mod huge_output;
mod layer;
mod own_loop;
mod read_only;
mod record_and_replay;
mod sandbox;
mod serve_tools;
mod use_a_server;
mod wrap_a_function;

type Done = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = arguments.split_first().ok_or("name a recipe, such as `own_loop`")?;
    match name.as_str() {
        "approve_later" => approve_later::run(rest).await,
        "ask_a_person" => ask_a_person::run().await,
        "delegate" => delegate::run().await,
        "huge_output" => huge_output::run().await,
        "layer" => layer::run().await,
        "own_loop" => own_loop::run().await,
        "read_only" => read_only::run().await,
        "record_and_replay" => record_and_replay::run().await,
        "sandbox" => sandbox::run().await,
        "serve_tools" => serve_tools::run().await,
        "use_a_server" => use_a_server::run().await,
        "wrap_a_function" => wrap_a_function::run().await,
        other => Err(format!("there is no recipe `{other}`; they are the files beside this one").into()),
    }
}
