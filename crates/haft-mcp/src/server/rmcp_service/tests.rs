mod eras;
#[cfg(feature = "server-http")]
mod http;
mod lines;
mod stage;
