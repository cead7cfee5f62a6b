mod eras;
#[cfg(feature = "server-http")]
mod http;
mod lines;
#[cfg(feature = "server-http")]
mod secrets;
mod stage;
