use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Finds a port of loopback for a program that has to be told where to listen.
///
/// Nobody listens there, and no connection is made from there: it lies in 20,000..30,000, below what systems choose from (RFC
/// 6335, section 6: 49,152 and up; Linux: 32,768 and up). One that the system chose could be taken, before the program has
/// it, by any connection, and even by the one that tries whether the program listens yet. A process gets each port once
/// before it gets one again.
///
/// ```
/// use haft_testkit::free_port;
/// use std::net::TcpListener;
///
/// let port = free_port();
/// assert_eq!(TcpListener::bind(("127.0.0.1", port))?.local_addr()?.port(), port);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        // Processes that begin one after the other shall not ask for the same ports.
        let step = process::id().wrapping_mul(101).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 20_000 + (step % 10_000) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::free_port;
    use std::collections::HashSet;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn ports_are_free_and_given_once() {
        let ports: HashSet<u16> = (0..100).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 100);
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, free_port())).unwrap();
        assert_ne!(taken.local_addr().unwrap().port(), free_port());
        assert!(ports.iter().all(|port| (20_000..30_000).contains(port)));
    }
}
