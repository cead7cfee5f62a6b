use super::super::{HttpLimits, Rate};
use super::stage::{Answer, Stage, post};
use std::time::Duration;
use tokio::task::JoinSet;

const ECHO: &str = r#"{"method":"echo"}"#;

async fn limited(change: impl FnOnce(&mut HttpLimits)) -> Stage {
    let mut limits = HttpLimits::default();
    change(&mut limits);
    Stage::with(|config| config.limits(limits)).await
}

async fn check(stage: &Stage, request: impl AsRef<[u8]>, status: u16, body: &str) {
    let request = request.as_ref();
    let answer = stage.ask(request).await;
    assert_eq!((answer.status, answer.body.as_str()), (status, body), "{}", String::from_utf8_lossy(request));
}

#[tokio::test]
async fn refuses_other_hosts_and_origins() {
    let stage = Stage::new().await;
    let host = "the host that the request is for is not served here";
    let origin = "pages of this origin may not ask here";
    for named in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "192.168.0.1"] {
        check(&stage, post("", ECHO).replace("localhost", named), 403, host).await;
    }
    check(&stage, post("", ECHO).replace("host: localhost\r\n", ""), 403, host).await;
    check(&stage, post("", ECHO).replace("/mcp", "http://evil.example/mcp"), 403, host).await;
    for named in ["https://evil.example", "null", "http://localhost.evil.example:8080"] {
        check(&stage, post(&format!("origin: {named}\r\n"), ECHO), 403, origin).await;
    }
    assert_eq!(stage.calls(), 0);
}

#[tokio::test]
async fn refuses_a_header_that_says_two_things() {
    let stage = Stage::new().await;
    for twice in [
        "host: evil.example",
        "origin: http://localhost\r\norigin: http://evil.example",
        "mcp-session-id: a\r\nmcp-session-id: b",
    ] {
        let twice = post(&format!("{twice}\r\n"), ECHO);
        check(&stage, twice, 400, "a header stands twice that may stand once").await;
    }
    // What could be read as two requests is refused by the reader of HTTP.
    let answer = stage.ask(post("transfer-encoding: chunked\r\ncontent-length: 5\r\n", ECHO)).await;
    assert_eq!(answer.status, 400);
    assert_eq!(stage.calls(), 0);
}

#[tokio::test]
async fn refuses_a_body_that_is_too_large() {
    let stage = limited(|limits| limits.body_bytes = 100).await;
    let large = "the body is larger than is taken";
    check(&stage, post("", &"a".repeat(101)), 413, large).await;
    // It is refused by its length alone.
    check(&stage, "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999\r\n\r\n", 413, large)
        .await;
    let chunks = format!("3c\r\n{}\r\n", "a".repeat(60)).repeat(2);
    let chunked =
        format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n{chunks}");
    check(&stage, chunked, 413, large).await;
    let answer = stage.ask(post("", &format!("{ECHO:100}"))).await;
    assert_eq!(answer.status, 200);
    assert_eq!(stage.calls(), 1);
}

#[tokio::test]
async fn refuses_a_head_that_is_too_large() {
    let stage = Stage::new().await;
    let head = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\na: {}\r\n\r\n", "a".repeat(32 << 10));
    assert_eq!(stage.ask(head).await.status, 431);
    let many = "a: b\r\n".repeat(200);
    assert_eq!(stage.ask(post(&many, ECHO)).await.status, 431);
}

#[tokio::test]
async fn ends_a_connection_whose_head_does_not_come() {
    let stage = limited(|limits| limits.head_timeout = Duration::from_millis(200)).await;
    assert_eq!(stage.connect("").await.rest().await, "");
    // Nor does a head count that comes a little at a time.
    let mut slow = stage.connect("POST /mcp HTTP/1.1\r\n").await;
    let begun = std::time::Instant::now();
    for number in 0..100 {
        use tokio::io::AsyncWriteExt as _;
        if slow.0.write_all(format!("a{number}: b\r\n").as_bytes()).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    slow.rest().await;
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(stage.calls(), 0);
}

#[tokio::test]
async fn refuses_a_body_that_does_not_come() {
    let stage = limited(|limits| limits.body_timeout = Duration::from_millis(100)).await;
    let slow = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{";
    check(&stage, slow, 408, "the body did not come in time").await;
    assert_eq!(stage.calls(), 0);
}

#[tokio::test]
async fn answers_what_is_no_json_with_an_error_that_belongs_to_no_request() {
    let stage = Stage::new().await;
    let fault = |code: i32, message: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":"{message}"}}}}"#)
    };
    let raw = |body: &[u8]| {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    check(&stage, raw(b"{\"a\":\"\xff\xfe\"}"), 400, &fault(-32700, "the body is not UTF-8")).await;
    check(&stage, raw(b"{\"a\":"), 400, &fault(-32700, "the body is not JSON")).await;
    check(&stage, raw(b""), 400, &fault(-32700, "the body is not JSON")).await;
    let batch = fault(-32600, "the body is not one JSON-RPC message; batches are not taken");
    check(&stage, raw(b"[{}]"), 400, &batch).await;
    let deep = fault(-32600, "the body is nested too deeply");
    check(&stage, raw("[".repeat(1 << 20).as_bytes()), 400, &deep).await;
    assert_eq!(stage.calls(), 0);
}

#[tokio::test]
async fn a_client_that_vanishes_ends_what_it_asked_for() {
    let stage = Stage::new().await;
    for method in ["wait", "subscriptions/listen"] {
        let wire = stage.connect(post("", &format!(r#"{{"method":"{method}"}}"#))).await;
        stage.until_waiting(1).await;
        drop(wire);
        stage.until_waiting(0).await;
    }
    // One that vanishes in the middle of its body never reaches the protocol.
    drop(stage.connect("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{").await);
    stage.until_logged(3).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_keep_its_place() {
    let stage = limited(|limits| {
        limits.unread_timeout = Duration::from_secs(3);
        limits.at_once = 1;
    })
    .await;
    let _wire = stage.connect(post("", r#"{"method":"flood"}"#)).await;
    stage.until_waiting(1).await;
    let busy = stage.ask(post("", ECHO)).await;
    assert_eq!((busy.status, busy.header("retry-after")), (503, Some("1")));
    stage.until_waiting(0).await;
    assert_eq!(stage.ask(post("", ECHO)).await.status, 200);
}

#[tokio::test]
async fn those_who_only_listen_take_nobodys_place() {
    let stage = limited(|limits| limits.at_once = 1).await;
    let mut listeners = Vec::new();
    for request in [
        post("", r#"{"method":"subscriptions/listen"}"#),
        "GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
    ] {
        let mut listener = stage.connect(request).await;
        listener.until(": hello").await;
        listeners.push(listener);
    }
    assert_eq!(stage.ask(post("", ECHO)).await.status, 200);
}

#[tokio::test]
async fn turns_away_connections_for_which_there_is_no_room() {
    let stage = limited(|limits| limits.connections = 2).await;
    let mut first = stage.connect("").await;
    let _second = stage.connect("").await;
    first.send(post("", r#"{"method":"wait"}"#)).await;
    stage.until_waiting(1).await;
    let turned_away = Answer::read(&stage.connect("").await.rest().await);
    assert_eq!((turned_away.status, turned_away.header("retry-after")), (503, Some("1")));
    drop(first);
    stage.until_waiting(0).await;
    assert_eq!(stage.ask(post("", ECHO)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_is_bounded_and_the_server_goes_on() {
    let stage = limited(|limits| {
        limits.at_once = 8;
        limits.rate = Rate::new(1.0, 5_000.0).at_once(8);
    })
    .await;
    let mut clients = JoinSet::new();
    for _ in 0..50 {
        let address = stage.address;
        clients.spawn(async move {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            let request = post("", ECHO).replace("connection: close\r\n", "");
            let mut counts = [0_u32; 3];
            for _ in 0..200 {
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut piece = vec![0; 4096];
                let read = stream.read(&mut piece).await.unwrap();
                match Answer::read(&String::from_utf8_lossy(&piece[..read])).status {
                    200 => counts[0] += 1,
                    429 => counts[1] += 1,
                    503 => counts[2] += 1,
                    other => panic!("{other}"),
                }
            }
            counts
        });
    }
    let counts = clients.join_all().await.into_iter().fold([0; 3], |mut all, each| {
        all.iter_mut().zip(each).for_each(|(all, each)| *all += each);
        all
    });
    assert_eq!(counts.iter().sum::<u32>(), 10_000);
    assert!(counts[0] >= 100 && counts[0] <= 5_100 && counts[1] >= 4_900, "{counts:?}");
    assert_eq!(stage.calls(), counts[0] as usize);
    assert_eq!(stage.ask("GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.status, 200);
    stage.until_waiting(0).await;
}

#[tokio::test]
async fn requests_that_come_at_once_are_answered_in_order() {
    let stage = Stage::new().await;
    let first = post("", r#"{"method":"echo","id":1}"#).replace("connection: close\r\n", "");
    let answers = stage.connect(first + &post("", r#"{"method":"echo","id":2}"#)).await.rest().await;
    assert!(answers.find("\"id\":1") < answers.find("\"id\":2") && answers.contains("\"id\":1"), "{answers}");
}
