//! What an answer costs in memory at most, however large it would be.

#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use haft_http::{AddressPolicy, Error, Exchange, HttpClient};
use haft_testkit::counting::{Counting, most_live};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: u64 = 1 << 20;

/// How much the answers would be in all.
const GIGABYTE: usize = 1 << 30;

/// Serves one answer on a thread of its own, whose memory is not counted: this piece again and again, until it was a
/// gigabyte, the times that are said, or nobody listens any more. Gives its address and, in the end, how much was sent.
fn serve(
    head: &'static str,
    first: Vec<u8>,
    piece: Vec<u8>,
    times: usize,
) -> (String, thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let mut sent = 0;
        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}connection: close\r\n\r\n").as_bytes());
        let _ = stream.write_all(&first);
        for _ in 0..times {
            if stream.write_all(&piece).is_err() {
                break;
            }
            sent += piece.len();
        }
        sent
    });
    (url, thread)
}

/// Reads an answer of which so many bytes are taken, and gives how many came and the most bytes of memory that it took.
fn read(url: &str, exchange: Exchange) -> (Result<usize, Error>, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let request = http::Request::get(url).body(Bytes::new()).unwrap();
    let (read, most) = most_live(|| {
        runtime.block_on(async {
            let answer = client.send(request, exchange).await?;
            answer.into_body().bytes().await.map(|body| body.len())
        })
    });
    (read, most.unsigned_abs())
}

fn check_cut(what: &str, head: &'static str, first: &[u8], piece: &[u8]) {
    let times = GIGABYTE.div_ceil(piece.len());
    for most in [2 * MIB, 16 * MIB] {
        let (url, server) = serve(head, first.to_owned(), piece.to_owned(), times);
        let (cut, memory) = read(&url, Exchange::default().decompressed().most_bytes(most));
        assert!(matches!(cut, Err(Error::TooLarge { .. })), "{what}: {cut:?}");
        assert!(memory < 2 * most, "{what}: {memory} bytes for {most}");
        assert!(server.join().unwrap() < GIGABYTE, "{what} was sent as a whole");
    }
}

#[test]
fn a_gigabyte_is_cut_with_less_than_twice_in_memory_of_what_is_taken() {
    let piece = vec![b'x'; 1 << 16];
    check_cut("an endless answer", "", &[], &piece);
    let chunk = [b"10000\r\n", &piece[..], b"\r\n"].concat();
    check_cut("one in chunks", "transfer-encoding: chunked\r\n", &[], &chunk);
}

#[test]
fn a_bomb_is_cut_with_less_than_twice_in_memory_of_what_is_taken() {
    let zeros = vec![0; 32 << 20];
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&zeros).unwrap();
    // A file of many members, each of which is a thousand times as large as it looks.
    let member = encoder.finish().unwrap();
    assert!(member.len() * 900 < zeros.len());
    check_cut("gzip", "content-encoding: gzip\r\n", &[], &member);

    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&zeros).unwrap();
    let whole = encoder.finish().unwrap();
    check_cut("deflate", "content-encoding: deflate\r\n", &whole, &vec![0; 1 << 16]);

    // Blocks that hold nothing (RFC 1951, section 3.2.4), behind the head of a file.
    let nothing = [0, 0, 0, 0xff, 0xff].repeat(10_000);
    let head = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    check_cut("empty blocks", "content-encoding: gzip\r\n", &head, &nothing);
    // A name of the file that does not end.
    let head = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0xff];
    let (url, _server) = serve("content-encoding: gzip\r\n", head, vec![b'n'; 1 << 16], 1 << 14);
    let (refused, memory) = read(&url, Exchange::default().decompressed().most_bytes(2 * MIB));
    assert!(matches!(refused, Err(Error::Encoding { .. } | Error::TooLarge { .. })), "{refused:?}");
    assert!(memory < 4 * MIB, "{memory}");
}

#[test]
fn what_is_taken_whole_needs_less_than_twice_in_memory_too() {
    for most in [2 * MIB, 16 * MIB] {
        let times = usize::try_from(most).unwrap() >> 16;
        let (url, server) = serve("", Vec::new(), vec![b'x'; 1 << 16], times);
        let (read, memory) = read(&url, Exchange::default().most_bytes(most));
        assert_eq!(read.unwrap() as u64, most);
        assert!(memory < 2 * most, "{memory} bytes for {most}");
        server.join().unwrap();
    }
}
