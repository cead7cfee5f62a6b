//! One address for several workers, each connection to the next of them that is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Passes connections on; dropped, it ends them.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// Counts the connections.
    turn: Arc<AtomicUsize>,
    _serves: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn start(workers: Vec<u16>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (workers, turn) = (Arc::new(workers), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&turn);
        let mut serves = JoinSet::new();
        serves.spawn(async move {
            let mut passed = JoinSet::new();
            loop {
                let (mut from, _) = listener.accept().await.unwrap();
                let (workers, turn) = (Arc::clone(&workers), counted.fetch_add(1, Ordering::Relaxed));
                passed.spawn(async move {
                    for place in 0..workers.len() {
                        let worker = workers[(turn + place) % workers.len()];
                        if let Ok(mut to) = TcpStream::connect(("127.0.0.1", worker)).await {
                            let _ = copy_bidirectional(&mut from, &mut to).await;
                            return;
                        }
                    }
                });
            }
        });
        Self { port, turn, _serves: serves }
    }

    /// Tells whether anybody has connected.
    pub(crate) fn is_used(&self) -> bool {
        self.turn.load(Ordering::Relaxed) > 0
    }
}
