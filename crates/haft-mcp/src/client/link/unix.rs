use super::framed::Output;
use super::{Ending, Framed};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::net::UnixStream;

/// Connects to a program that listens at a socket of this machine, for lines of at most so many bytes.
pub(crate) async fn connect(socket: &Path, most: usize, ending: Arc<Ending>) -> io::Result<Framed> {
    let (input, output) = UnixStream::connect(socket).await?.into_split();
    Ok(Framed::new(input, Output::Socket(output), most, ending))
}
