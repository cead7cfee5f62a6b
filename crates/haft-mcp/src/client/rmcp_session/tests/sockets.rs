use super::stage::{Stage, works};
use crate::client::rmcp_session::UnixDial;
use crate::client::session::Dial as _;

#[tokio::test]
async fn a_socket_is_spoken_to_like_a_program() {
    let stage = Stage::new(&[]);
    let socket = stage.path("socket");
    let mut listener = std::process::Command::new(super::stage::hostile_server())
        .arg("--listen")
        .arg(&socket)
        .spawn()
        .expect("the fixture starts");
    super::stage::until("it listens", || std::os::unix::net::UnixStream::connect(&socket).is_ok()).await;
    let dial = UnixDial { socket, opening: stage.dial.opening.clone() };
    let [one, two] =
        [dial.dial(stage.host.clone()).await.unwrap(), dial.dial(stage.host.clone()).await.unwrap()];
    works(&one).await;
    one.close().await;
    assert_eq!(one.farewell().unwrap().how, "it was closed");
    works(&two).await;
    listener.kill().unwrap();
    listener.wait().unwrap();
    two.ended().cancelled().await;
    assert_eq!(two.farewell().unwrap().how, "it closed the connection");
    let gone = dial.dial(stage.host.clone()).await.err().map(|error| error.to_string());
    assert!(gone.is_some_and(|gone| gone.contains("cannot connect to")));
}
