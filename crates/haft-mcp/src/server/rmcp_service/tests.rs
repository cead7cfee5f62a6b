#[cfg(feature = "server-http")]
mod both_ways;
#[cfg(feature = "server-http")]
mod direct;
mod eras;
#[cfg(feature = "server-http")]
mod http;
mod lines;
#[cfg(feature = "server-http")]
mod secrets;
mod stage;
