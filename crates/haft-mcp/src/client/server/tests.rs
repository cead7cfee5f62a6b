#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use crate::client::fake::{
    Dialed, FakeServer, builder, call, catalog, config, executor, one, replies, text_result, tool,
};
use crate::client::session::{DialError, Farewell, Fault, News};
use crate::{Era, McpServer, McpServers, ServerState, Start};
use expect_test::{Expect, expect};
use haft_tools_core::ToolSource as _;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

fn milliseconds(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn exited() -> DialError {
    let stderr = "one\ntwo\nthree\nno such key\u{1b}[2J\n".to_owned();
    DialError::Ended(Farewell { how: "it exited with code 2".to_owned(), stderr })
}

fn state(servers: &McpServers) -> ServerState {
    servers.statuses()[0].state
}

/// Waits until the first server stands so.
async fn stands(servers: &McpServers, state: ServerState) {
    let server = servers.get("s").unwrap();
    server.standings().wait_for(|standing| standing.state == state).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_is_started_when_its_tools_are_first_asked_for_and_once() {
    let fake = FakeServer::saying(json!([tool("a")]), "done").dials([Dialed::After(milliseconds(500))]);
    let servers = one(&fake);
    servers.start().await;
    assert_eq!((state(&servers), fake.dial_times().len()), (ServerState::Configured, 0));
    let server = servers.get("s").unwrap();
    let waiting = (0..5).map(|_| async {
        let (source, connected) = (server.source(), server.connected(0));
        let (tools, connected) = tokio::join!(source.tools(), connected);
        assert!(tools.is_ok() && connected.is_ok());
    });
    futures_util::future::join_all(waiting).await;
    assert_eq!((fake.dial_times().len(), fake.count("tools/list")), (1, 1));
    let status = servers.statuses().remove(0);
    assert_eq!((status.state, status.generation, status.tools), (ServerState::Ready, 1, 1));
    assert_eq!((status.era, status.calls_itself.as_deref()), (Some(Era::Modern), Some("fake 1")));
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_waiting_does_not_end_the_start() {
    let fake = FakeServer::saying(json!([tool("a")]), "").dials([Dialed::After(milliseconds(500))]);
    let servers = one(&fake);
    let source = servers.sources().remove(0);
    assert!(timeout(milliseconds(100), source.tools()).await.is_err());
    let mut changes = source.changes().unwrap();
    assert!(changes.changed().await);
    assert!(source.tools().await.is_ok());
    assert_eq!(fake.dial_times().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn so_many_servers_start_at_once_each_with_its_own_time() {
    let slow = || FakeServer::saying(json!([]), "").dials([Dialed::After(milliseconds(1_000))]);
    let fakes = [slow(), slow(), slow()];
    let silent = FakeServer::saying(json!([]), "").dials([Dialed::After(Duration::from_hours(1))]);
    let eager = |name: &str| {
        let mut config = config(name);
        config.start = Start::Eager;
        config
    };
    let servers = builder([
        (eager("a"), &fakes[0]),
        (eager("s"), &silent),
        (eager("b"), &fakes[1]),
        (eager("c"), &fakes[2]),
        (config("lazy"), &fakes[0]),
    ])
    .parallel_starts(2)
    .build()
    .unwrap();
    let began = Instant::now();
    servers.start().await;
    let states: Vec<_> = servers.statuses().iter().map(|status| status.state).collect();
    assert_eq!(
        states,
        [
            ServerState::Ready,
            ServerState::Backoff,
            ServerState::Ready,
            ServerState::Ready,
            ServerState::Configured
        ]
    );
    let started = fakes.each_ref().map(|fake| (fake.dial_times()[0] - began).as_millis());
    assert_eq!((started, began.elapsed().as_secs()), ([0, 1_000, 2_000], 31));
    assert_eq!(
        servers.get("s").unwrap().status().reason.as_deref(),
        Some("the server did not answer within 30 s")
    );
}

async fn check_failure(error: DialError, expect: Expect) {
    let servers = one(&FakeServer::saying(json!([]), "").dials([Dialed::Fails(error)]));
    let source = servers.sources().remove(0);
    let told = source.tools().await.unwrap_err().to_string();
    let status = &servers.statuses()[0];
    expect.assert_eq(&format!("{told}\n{} {:?}", status.state, status.last_words));
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_says_how_it_ended_and_what_it_wrote_last() {
    check_failure(exited(), expect![[r#"
        the MCP server `s` is not there: the server ended before it had answered: it exited with code 2; it last wrote: two / three / no such key\u{1b}[2J
        backoff Some("one\ntwo\nthree\nno such key\\u{1b}[2J\n")"#]]).await;
    check_failure(
        DialError::Unreachable("there is no program `srv`".to_owned()),
        expect![[r#"
        the MCP server `s` is not there: there is no program `srv`
        backoff None"#]],
    )
    .await;
    let refused = Fault::Refused { code: -32000, message: "not\u{202e} today".to_owned(), data: None };
    check_failure(DialError::Refused(refused), expect![[r#"
        the MCP server `s` is not there: the server did not open the connection: the server answered with the error -32000: not\u{202e} today
        backoff None"#]]).await;
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_is_tried_again_and_its_success_is_told() {
    let fake =
        FakeServer::saying(json!([tool("a")]), "").dials([Dialed::Fails(exited()), Dialed::Fails(exited())]);
    let servers = one(&fake);
    let source = servers.sources().remove(0);
    let mut changes = source.changes().unwrap();
    assert!(source.tools().await.is_err());
    assert_eq!(state(&servers), ServerState::Backoff);
    let retry_in = servers.statuses()[0].retry_in.unwrap();
    assert!(retry_in >= milliseconds(100) && retry_in <= milliseconds(200), "{retry_in:?}");
    assert!(changes.changed().await);
    assert_eq!((state(&servers), servers.statuses()[0].reason.clone()), (ServerState::Ready, None));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_on_each_start_is_left_alone_until_its_window_is_over() {
    let fake = FakeServer::saying(json!([tool("a")]), "").dials((0..6).map(|_| Dialed::Dies));
    let servers = one(&fake);
    let source = servers.sources().remove(0);
    let began = Instant::now();
    let told = source.tools().await.unwrap_err().to_string();
    expect![[r#"the MCP server `s` is not there: the server ended: it exited with code 3; it last wrote: loading / out of\u{1b}[31m luck"#]].assert_eq(&told);
    stands(&servers, ServerState::Failed).await;
    let took = began.elapsed();
    assert!(took >= milliseconds(3_100) && took <= milliseconds(6_300), "{took:?}");
    assert_eq!((state(&servers), fake.dial_times().len()), (ServerState::Failed, 6));
    assert!(source.tools().await.is_err());
    assert_eq!(fake.dial_times().len(), 6, "nothing is started while it is left alone");
    sleep(Duration::from_mins(5)).await;
    assert_eq!(state(&servers), ServerState::Configured);
    assert!(source.tools().await.is_ok());
    assert_eq!(servers.statuses()[0].generation, 7);
}

#[tokio::test(start_paused = true)]
async fn a_failed_server_is_started_again_when_a_person_says_so() {
    let fake = FakeServer::saying(json!([tool("a")]), "").dials((0..6).map(|_| Dialed::Fails(exited())));
    let servers = one(&fake);
    servers.get("s").unwrap().start().await.unwrap_err();
    stands(&servers, ServerState::Failed).await;
    servers.get("s").unwrap().restart();
    stands(&servers, ServerState::Ready).await;
    servers.get("s").unwrap().restart();
    servers.get("s").unwrap().standings().wait_for(|standing| standing.generation == 2).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_when_the_server_dies_is_reported_and_the_next_one_works() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        if asked.params["arguments"]["die"] == true {
            asked.session.die();
            std::future::pending::<()>().await;
        }
        Ok(text_result("done"))
    });
    let servers = one(&fake);
    let executor = executor(&servers).await.build();
    expect![[r#"
        error: unavailable
        the server `s` ended while it worked on `s__a`, which may have been done in part; see what has been done before you repeat it"#]].assert_eq(&call(&executor, "s__a", json!({ "die": true })).await);
    expect![[r#"
        ok
        done"#]]
    .assert_eq(&call(&executor, "s__a", json!({})).await);
    assert_eq!((servers.statuses()[0].generation, fake.dial_times().len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn only_what_can_be_repeated_is_and_only_once() {
    let hinted = |hint: &str| {
        let mut tool = tool("a");
        tool["annotations"] = json!({ hint: true });
        tool
    };
    for (listed, repeatable) in
        [(tool("a"), true), (hinted("readOnlyHint"), false), (hinted("idempotentHint"), false)]
    {
        let (ended, asked) = dying(1, listed.clone(), repeatable).await;
        assert_eq!((&*ended, asked), ("ok\ndone", 2));
        let (ended, asked) = dying(5, listed, repeatable).await;
        assert_eq!(asked, 2);
        let told = "the server `s` ended twice while it worked on `s__a`, which may have been done in part; see what has \
                    been done before you repeat it";
        assert_eq!(ended, format!("error: unavailable\n{told}"));
    }
    let (ended, asked) = dying(1, tool("a"), false).await;
    assert_eq!(asked, 1);
    assert!(ended.starts_with("error: unavailable"), "{ended}");
}

/// Calls a tool whose server dies so often while it works on it; gives how it ended and how often it was asked.
async fn dying(times: usize, listed: serde_json::Value, repeatable: bool) -> (String, usize) {
    let died = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let fake = FakeServer::new(Era::Modern, json!([listed]), move |asked| {
        let is_dying = died.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < times;
        async move {
            if is_dying {
                asked.session.die();
                std::future::pending::<()>().await;
            }
            Ok(text_result("done"))
        }
    });
    let mut config = config("s");
    config.repeatable = repeatable.then(|| "a".to_owned()).into_iter().collect();
    let servers = builder([(config, &fake)]).build().unwrap();
    let executor = executor(&servers).await.build();
    (call(&executor, "s__a", json!({})).await, fake.count("tools/call"))
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_made_again_may_have_been_done_in_part() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        asked.session.die();
        std::future::pending().await
    });
    let mut config = config("s");
    config.repeatable = ["a".to_owned()].into();
    let servers = builder([(config, &fake)]).build().unwrap();
    let executor = executor(&servers).await.build();
    let fake = fake.dials((0..6).map(|_| Dialed::Fails(exited())));
    expect![[r#"
        error: unavailable
        the server `s` ended while it worked on `s__a`, which may have been done in part; see what has been done before you repeat it"#]].assert_eq(&call(&executor, "s__a", json!({})).await);
    assert_eq!(fake.count("tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn changed_tools_reach_a_catalog_within_a_second() {
    let fake = FakeServer::saying(json!([tool("a")]), "");
    let servers = one(&fake);
    let catalog = catalog(&servers).await;
    let followed = catalog.clone();
    let following = tokio::spawn(async move { followed.follow().await });
    // Whatever was told before is over.
    sleep(Duration::from_secs(2)).await;
    fake.list(json!([tool("b")]));
    fake.tell(News::ToolsChanged);
    sleep(milliseconds(900)).await;
    assert_eq!(catalog.snapshot().names().collect::<Vec<_>>(), ["s__b"]);
    following.abort();
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_changes_costs_one_reading_a_quarter_of_a_second() {
    let fake = FakeServer::saying(json!([tool("a")]), "");
    let servers = one(&fake);
    catalog(&servers).await;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        fake.tell(News::ToolsChanged);
        sleep(milliseconds(1)).await;
    }
    sleep(Duration::from_secs(1)).await;
    let times = fake.times("tools/list");
    assert!(times.len() >= 20 && times.len() <= 22, "{}", times.len());
    for pair in times.windows(2).skip(1) {
        assert!(pair[1] - pair[0] >= milliseconds(250), "{:?}", pair[1] - pair[0]);
    }
    // What did not change is not told.
    let mut changes = servers.sources()[0].changes().unwrap();
    fake.tell(News::ToolsChanged);
    assert!(timeout(Duration::from_secs(2), changes.changed()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_not_called_before_what_the_server_told_of_it_is_known() {
    let fake = FakeServer::saying(json!([tool("a")]), "done");
    let executor = executor(&one(&fake)).await.build();
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
    // What is told first has been seen to when the tool changes.
    fake.tell(News::ToolsChanged);
    sleep(milliseconds(260)).await;
    let mut changed = tool("a");
    changed["description"] = json!("Does something else.");
    fake.list(json!([changed]));
    fake.tell(News::ToolsChanged);
    assert!(call(&executor, "s__a", json!({})).await.starts_with("denied"));
    assert_eq!(fake.count("tools/call"), 1);
}

/// Lists a tool, which counts for so long.
fn listing(description: &str, ttl: u64) -> serde_json::Value {
    let mut tool = tool("a");
    tool["description"] = json!(description);
    json!({ "": { "tools": [tool], "ttlMs": ttl, "nextCursor": "2" }, "2": { "tools": [], "ttlMs": 3 * ttl } })
}

#[tokio::test(start_paused = true)]
async fn a_list_of_tools_that_counts_no_longer_is_read_again_before_it_is_used_and_once() {
    let fake = FakeServer::saying(listing("Does it.", 120_000), "done");
    let servers = one(&fake);
    let executor = executor(&servers).await.build();
    sleep(Duration::from_secs(119)).await;
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
    let pages = || fake.count("tools/list");
    assert_eq!(pages(), 2, "it still counts");
    sleep(Duration::from_mins(10)).await;
    assert_eq!(pages(), 2, "nobody uses it");
    let source = servers.sources().remove(0);
    let (calls, tools) = tokio::join!(
        replies(&executor, vec![("s__a", json!({})); 8]),
        futures_util::future::join_all((0..8).map(|_| source.tools())),
    );
    assert!(calls.iter().all(|reply| reply.status.is_ok()) && tools.iter().all(Result::is_ok));
    assert_eq!(pages(), 4);
    fake.list(listing("Does something else.", 120_000));
    sleep(Duration::from_secs(121)).await;
    assert!(call(&executor, "s__a", json!({})).await.starts_with("denied"));
    assert_eq!(fake.count("tools/call"), 9);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_tools_that_never_counts_is_read_once_a_minute_at_most() {
    let fake = FakeServer::saying(listing("Does it.", 0), "done");
    let executor = executor(&one(&fake)).await.build();
    for _ in 0..299 {
        sleep(Duration::from_secs(1)).await;
        assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
    }
    assert_eq!(fake.count("tools/list"), 2 * 5);
}

#[tokio::test(start_paused = true)]
async fn tools_read_over_a_connection_that_has_ended_do_not_count() {
    let fake = FakeServer::saying(json!([tool("a")]), "");
    let servers = one(&fake);
    let source = servers.sources().remove(0);
    source.tools().await.unwrap();
    fake.list(json!([tool("a"), tool("b")]));
    fake.die();
    source.tools().await.unwrap();
    let status = &servers.statuses()[0];
    assert_eq!((status.generation, status.tools), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_server_stays_stopped_until_it_is_started() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |_| async {
        std::future::pending::<()>().await;
        Ok(json!({}))
    });
    let servers = one(&fake);
    let executor = executor(&servers).await.build();
    let stop = async {
        sleep(milliseconds(50)).await;
        servers.stop().await;
    };
    let (ended, ()) = tokio::join!(call(&executor, "s__a", json!({})), stop);
    expect![[r#"
        error: unavailable
        the server `s` ended while it worked on `s__a`, which may have been done in part; see what has been done before you repeat it"#]].assert_eq(&ended);
    assert_eq!(state(&servers), ServerState::Configured);
    expect![[r#"
        error: failed
        the server `s` of `s__a` was stopped; nothing was done, go on without it"#]]
    .assert_eq(&call(&executor, "s__a", json!({})).await);
    let told = servers.sources()[0].tools().await.unwrap_err().to_string();
    expect!["the MCP server `s` was stopped"].assert_eq(&told);
    assert_eq!(fake.dial_times().len(), 1);
    servers.stop().await;
    servers.get("s").unwrap().start().await.unwrap();
    assert_eq!((state(&servers), fake.dial_times().len()), (ServerState::Ready, 2));
    // A server that was never started has nothing to end.
    one(&fake).stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_can_be_stopped_wherever_it_stands() {
    let check = async |fake: FakeServer, at: ServerState| {
        let servers = one(&fake);
        let source = servers.sources().remove(0);
        let asking = tokio::spawn(async move { source.tools().await.map(drop) });
        stands(&servers, at).await;
        timeout(Duration::from_secs(1), servers.stop()).await.expect("it stops");
        assert_eq!(state(&servers), ServerState::Configured);
        let dials = fake.dial_times().len();
        sleep(Duration::from_mins(10)).await;
        assert_eq!(fake.dial_times().len(), dials, "nothing is started any more");
        assert!(asking.is_finished());
    };
    let fake = || FakeServer::saying(json!([]), "");
    let failing = || (0..20).map(|_| Dialed::Fails(exited()));
    let login = DialError::Refused(Fault::Unauthorized { url: None });
    check(fake(), ServerState::Ready).await;
    check(fake().dials([Dialed::After(Duration::from_secs(20))]), ServerState::Starting).await;
    check(fake().dials(failing()), ServerState::Backoff).await;
    check(fake().dials(failing()), ServerState::Failed).await;
    check(fake().dials([Dialed::Fails(login)]), ServerState::NeedsLogin).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_a_login_says_where_and_is_asked_again_when_it_is_needed() {
    let url = "https://auth.example.org/authorize?state=1".to_owned();
    let login = || Dialed::Fails(DialError::Refused(Fault::Unauthorized { url: Some(url.clone()) }));
    let fake = FakeServer::saying(json!([tool("a")]), "").dials([login(), login()]);
    let servers = one(&fake);
    let source = servers.sources().remove(0);
    expect!["the MCP server `s` needs a login; run `haft mcp login s`"]
        .assert_eq(&source.tools().await.unwrap_err().to_string());
    let status = &servers.statuses()[0];
    assert_eq!((status.state, status.login_url.as_ref()), (ServerState::NeedsLogin, Some(&url)));
    sleep(Duration::from_mins(10)).await;
    assert_eq!(fake.dial_times().len(), 1, "it is not asked for nothing");
    assert!(source.tools().await.is_err());
    assert!(source.tools().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn fifty_reconnects_leave_nothing_behind() {
    let fake = FakeServer::saying(json!([tool("a")]), "done");
    let mut config = config("s");
    config.limits.restarts = 1_000;
    let servers = builder([(config, &fake)]).build().unwrap();
    let executor = executor(&servers).await.build();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for _ in 0..50 {
        fake.die();
        assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
    }
    executor.idle().await;
    assert_eq!((servers.statuses()[0].generation, tasks()), (51, before));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_nobody_holds_any_more_is_let_go_of() {
    let fake = FakeServer::saying(json!([tool("a")]), "done");
    let servers = one(&fake);
    let executor = executor(&servers).await.build();
    drop(servers);
    assert_eq!(call(&executor, "s__a", json!({})).await, "ok\ndone");
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    drop(executor);
    sleep(milliseconds(10)).await;
    assert!(tokio::runtime::Handle::current().metrics().num_alive_tasks() < before);
}

#[tokio::test(start_paused = true)]
async fn the_log_of_a_server_is_bounded_and_visible() {
    let fake = FakeServer::saying(json!([]), "");
    let servers = one(&fake);
    catalog(&servers).await;
    let log = |text: String| News::Log { level: "info".to_owned(), text };
    fake.tell(log("a\u{1b}[2Jb\nc".to_owned()));
    fake.tell(News::Odd("a line that is not JSON".to_owned()));
    let server: &McpServer = servers.get("s").unwrap();
    assert_eq!(server.log(), ["info: a\\u{1b}[2Jb\\nc", "a line that is not JSON"]);
    for _ in 0..1_000 {
        fake.tell(log("x".repeat(10_000)));
    }
    let bytes: usize = server.log().iter().map(String::len).sum();
    assert!(bytes > 32 << 10 && bytes <= 64 << 10, "{bytes}");
}

#[tokio::test(start_paused = true)]
async fn two_servers_cannot_be_called_the_same() {
    let fake = FakeServer::saying(json!([]), "");
    let error = builder([(config("s"), &fake), (config("s"), &fake)]).build().unwrap_err();
    assert_eq!(error.to_string(), "two MCP servers are called `s`; rename one of them");
}

/// Calls, deaths, restarts, stops and news at once: every call is answered, and in the end the server can be used.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_hangs_whatever_happens_at_once() {
    let fake = FakeServer::new(Era::Modern, json!([tool("a")]), |asked| async move {
        match asked.params["arguments"]["n"].as_u64().unwrap_or_default() % 7 {
            0 => asked.session.die(),
            1 => sleep(milliseconds(1)).await,
            _ => tokio::task::yield_now().await,
        }
        Ok(text_result("done"))
    });
    let mut config = config("s");
    config.limits.restarts = 100_000;
    // No restart is waited for longer than the first.
    config.limits.restart_window = Duration::ZERO;
    config.orders_itself = true;
    config.repeatable = ["a".to_owned()].into();
    let servers = builder([(config, &fake)]).build().unwrap();
    let executor = executor(&servers).await.build();
    let server = servers.get("s").unwrap();
    let disturbing = async {
        for n in 0..20 {
            sleep(milliseconds(2)).await;
            match n % 4 {
                0 => server.restart(),
                1 => fake.tell(News::ToolsChanged),
                2 => server.refresh(),
                _ => {
                    server.stop().await;
                    let _ = server.start().await;
                }
            }
        }
    };
    let calling = async {
        for round in 0..4 {
            let calls: Vec<_> = (0..32).map(|n| ("s__a", json!({ "n": round * 32 + n }))).collect();
            assert_eq!(replies(&executor, calls).await.len(), 32);
        }
    };
    timeout(Duration::from_mins(1), async { tokio::join!(disturbing, calling) })
        .await
        .expect("nothing hangs");
    let _ = server.start().await;
    assert_eq!(call(&executor, "s__a", json!({ "n": 2 })).await, "ok\ndone");
    servers.stop().await;
}
