//! `haft serve` between several servers and several clients, each a process or a client of its own.

use crate::mcp::User;
use crate::served::{Served, post, tool_call};
use async_trait::async_trait;
use haft::core::{Event, EventKind, Origin};
use haft::mcp::{
    Era, McpServers, RemoteServer, Sampled, Sampler, SamplingRequest, ServerConfig, ServerState, Transport,
};
use haft::tools_core::{
    Approval, Approver, AskedQuestion, CallOutcome, Catalog, PendingCall, QuestionOutcome,
};
use haft::{
    Batch, CallContext, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolError, ToolExecutor as _,
};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

/// How long a test waits for what happens in another process.
const PATIENCE: Duration = Duration::from_secs(20);

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// Is `haft serve` with the servers `one` and `two`, which have the same tools, and the clients `laptop` and `guest`.
struct Gateway {
    /// Ends before what it works in is removed.
    served: Served,
    user: User,
}

impl Gateway {
    fn start() -> Self {
        let user = User::new();
        let program = Path::new(env!("CARGO_BIN_EXE_haft")).with_file_name("examples").join("mcp-guest");
        assert!(program.exists(), "build the examples of this crate: cargo test does");
        for name in ["one", "two"] {
            let mut add = user.command(&["mcp", "add", name, "--"]);
            let added = add.arg(&program).arg(name).arg(user.home()).output().unwrap();
            assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        }
        for (file, text) in [
            (
                "clients.toml",
                "[clients.laptop]\npolicy = \"laptop.toml\"\n[clients.guest]\npolicy = \"guest.toml\"\n",
            ),
            (
                "laptop.toml",
                "[permissions]\nallow = [\"call(@one)\", \"call(@two)\", \"call(@one/sampling/createMessage)\"]\n",
            ),
            (
                "guest.toml",
                "[permissions]\nallow = [\"call(@one)\", \"call(@one/sampling/createMessage)\"]\ndeny = [\"call(@two)\"]\n",
            ),
        ] {
            std::fs::write(user.home().join(file), text).unwrap();
        }
        user.private("tokens", &format!("laptop {}\nguest {}\n", token("laptop"), token("guest")));
        let home = user.home().to_owned();
        let mut command = user.command(&["serve", "--http", "127.0.0.1:0"]);
        command.arg("--token-file").arg(home.join("tokens")).arg("--clients").arg(home.join("clients.toml"));
        let served = Served::run(&mut command);
        Self { served, user }
    }

    /// Says something to a server by way of a file.
    fn tell(&self, server: &str, what: &str) {
        std::fs::write(self.user.home().join(format!("{server}.{what}")), "").unwrap();
    }

    /// Sends a message of the newer era as `laptop`, and gives the whole answer.
    fn ask(&self, message: &Value) -> String {
        let bearer = format!("Bearer {}", token("laptop"));
        let mut told = String::new();
        let mut answer = post(self.served.address(), message, &[("authorization", &bearer)]);
        answer.read_to_string(&mut told).unwrap();
        told
    }

    fn told(&self, server: &str, what: &str) -> Option<String> {
        std::fs::read_to_string(self.user.home().join(format!("{server}.{what}"))).ok()
    }

    fn kill(&self, server: &str) {
        let pid = self.told(server, "pid").unwrap();
        assert!(std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    }
}

fn token(name: &str) -> String {
    format!("{name:x<40}")
}

/// Is a client with its person: it speaks one era, and notes what it is asked and told.
struct Client {
    catalog: Catalog,
    executor: LocalExecutor,
    person: Arc<Person>,
    progress: Arc<Mutex<Vec<String>>>,
    servers: McpServers,
    _following: AbortOnDropHandle<()>,
}

/// Answers each question with a name.
struct Person {
    name: &'static str,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Approve
    }

    async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
        self.asked.lock().unwrap().push(asked.question.text.clone());
        QuestionOutcome::Answered { answer: json!({ "name": self.name }) }
    }
}

/// Takes turns of a model in the name of a client.
struct Model(&'static str);

#[async_trait]
impl Sampler for Model {
    async fn sample(&self, request: SamplingRequest, _: &CallContext) -> Result<Sampled, ToolError> {
        assert_eq!(request.messages.len(), 1);
        Ok(Sampled::new(format!("the city of {}", self.0), "test"))
    }
}

impl Client {
    async fn connect(gateway: &Gateway, era: Era, name: &'static str, samples: bool) -> Self {
        let mut http = RemoteServer::new(format!("http://{}/mcp", gateway.served.address()));
        http.headers.insert("authorization".to_owned(), format!("Bearer {}", token(name)));
        let mut config = ServerConfig::new("gate".parse().unwrap(), Transport::Http(http));
        config.era = Some(era);
        config.orders_itself = true;
        let mut servers = McpServers::builder().server(config).asking_people();
        if samples {
            servers = servers.sampler(Model(name));
        }
        let servers = servers.build().unwrap();
        let catalog = Catalog::builder().build().unwrap();
        for source in servers.sources() {
            catalog.attach(source).unwrap();
        }
        catalog.refresh().await;
        let status = servers.statuses().remove(0);
        assert_eq!(status.state, ServerState::Ready, "{:?}", status.reason);
        let person = Arc::new(Person { name, asked: Mutex::default() });
        let followed = catalog.clone();
        let following = AbortOnDropHandle::new(tokio::spawn(async move { followed.follow().await }));
        let policy = Policy::new()
            .allow(Rule::tools("*".parse().unwrap()))
            .allow(Rule::tools("@gate/sampling/createMessage".parse().unwrap()));
        let executor = LocalExecutor::builder(catalog.snapshot()).policy(policy).build();
        let progress = Arc::default();
        Self { catalog, executor, person, progress, servers, _following: following }
    }

    /// The names by which tools are served.
    fn tools(&self) -> Vec<String> {
        let snapshot = self.catalog.snapshot();
        let foreign = |origin: &Origin| match origin {
            Origin::Mcp { tool, .. } => tool.clone(),
            _ => String::new(),
        };
        let specs = snapshot.direct_specs();
        specs.iter().map(|spec| foreign(spec.origin())).filter(|tool| tool.contains("__")).collect()
    }

    async fn call(&self, tool: &str, input: Value) -> String {
        let call = ToolCall::new("c1".parse().unwrap(), format!("gate__{tool}"), input);
        let progress = Arc::clone(&self.progress);
        let observe = move |event: &Event| {
            if let EventKind::Progressed { progress: told } = &event.kind {
                progress.lock().unwrap().extend(told.message.clone());
            }
        };
        let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call])
            .with_registry(self.catalog.snapshot())
            .asked_through(Arc::clone(&self.person) as Arc<dyn Approver>)
            .observed_by(Arc::new(observe));
        let outcomes = timeout(PATIENCE, self.executor.execute_batch(batch)).await;
        let name = self.person.name;
        let outcomes = outcomes.unwrap_or_else(|_| panic!("`{tool}` takes {name} too long")).into_outcomes();
        match &outcomes[0] {
            CallOutcome::Replied(reply) => format!("{}: {}", reply.status, reply.output.to_text()),
            other => panic!("no reply: {other:?}"),
        }
    }

    async fn say(&self, tool: &str) -> String {
        self.call(tool, json!({ "text": "hello" })).await
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.person.asked.lock().unwrap())
    }

    fn progress(&self) -> Vec<String> {
        std::mem::take(&mut *self.progress.lock().unwrap())
    }

    async fn until(&self, what: &str, is_so: impl Fn(&[String]) -> bool) {
        let waiting = async {
            while !is_so(&self.tools()) {
                sleep(Duration::from_millis(10)).await;
            }
        };
        assert!(
            timeout(PATIENCE, waiting).await.is_ok(),
            "it takes too long until {what}: {:?}",
            self.tools()
        );
    }

    async fn leave(self) {
        self.servers.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_one_name_are_told_apart_and_each_client_has_its_own_rights() {
    let gateway = Gateway::start();
    for era in ERAS {
        let laptop = Client::connect(&gateway, era, "laptop", false).await;
        let guest = Client::connect(&gateway, era, "guest", false).await;
        for tool in ["one__say", "two__say", "one__counts", "two__counts"] {
            assert!(laptop.tools().contains(&tool.to_owned()), "{:?}", laptop.tools());
        }
        assert_eq!(laptop.say("one__say").await, "ok: one: hello");
        assert_eq!(laptop.say("two__say").await, "ok: two: hello");
        assert_eq!(guest.say("one__say").await, "ok: one: hello");
        let refused = guest.say("two__say").await;
        assert!(!refused.contains("hello") && refused.contains("call(@two)"), "{refused}");
        laptop.leave().await;
        guest.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_turns_and_progress_of_a_server_reach_the_client_that_calls() {
    let gateway = Gateway::start();
    for era in ERAS {
        let laptop = Client::connect(&gateway, era, "laptop", true).await;
        let guest = Client::connect(&gateway, era, "guest", false).await;

        assert_eq!(guest.call("one__asks", json!({})).await, "ok: one: guest");
        assert_eq!((laptop.asked().len(), guest.asked().len()), (0, 1));
        let both = tokio::join!(laptop.call("two__asks", json!({})), guest.call("one__asks", json!({})));
        assert_eq!(both, ("ok: two: laptop".to_owned(), "ok: one: guest".to_owned()));
        let asked = (laptop.asked().concat(), guest.asked().concat());
        assert!(asked.0.contains("The MCP server `two` asks:"), "{asked:?}");
        assert!(asked.1.contains("The MCP server `one` asks:"), "{asked:?}");

        assert_eq!(laptop.call("one__samples", json!({})).await, "ok: one: the city of laptop");
        let refused = guest.call("one__samples", json!({})).await;
        let expected = "ok: one: the client whose call this is takes no turns of a model (it has no `sampling`); go on without it";
        assert_eq!(refused, expected);

        let (_, _) =
            tokio::join!(laptop.call("two__counts", json!({})), guest.call("one__counts", json!({})));
        let told = (laptop.progress(), guest.progress());
        assert!(!told.0.is_empty() && told.0.iter().all(|text| text.starts_with("two ")), "{told:?}");
        assert!(!told.1.is_empty() && told.1.iter().all(|text| text.starts_with("one ")), "{told:?}");
        laptop.leave().await;
        guest.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_takes_nothing_else_down() {
    let gateway = Gateway::start();
    let laptop = Client::connect(&gateway, Era::Modern, "laptop", false).await;
    let session = Client::connect(&gateway, Era::Legacy, "laptop", false).await;
    let death = async {
        while gateway.told("one", "waits").is_none() {
            sleep(Duration::from_millis(10)).await;
        }
        gateway.tell("one", "dead");
        gateway.kill("one");
    };
    let (reply, other, ()) =
        tokio::join!(laptop.call("one__waits", json!({})), session.say("two__say"), death);
    assert_eq!(other, "ok: two: hello");
    assert!(reply.starts_with("error: ") && reply.contains("`one`"), "{reply}");
    let reply = session.say("one__say").await;
    assert!(
        reply.starts_with("error: ") && reply.contains("`one`") && reply.contains("nothing was done"),
        "{reply}"
    );
    for client in [laptop, session] {
        assert_eq!(client.say("two__say").await, "ok: two: hello");
        client.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_reach_clients_and_what_is_not_accepted_is_not_served() {
    let gateway = Gateway::start();
    let clients = [
        Client::connect(&gateway, Era::Legacy, "laptop", false).await,
        Client::connect(&gateway, Era::Modern, "guest", false).await,
    ];
    let has = |tools: &[String], tool: &str| tools.iter().any(|served| served == tool);
    for client in &clients {
        client.until("the tool is there", |tools| has(tools, "one__counts")).await;
    }
    gateway.tell("one", "fewer");
    for client in &clients {
        client
            .until("the tool is gone", |tools| !has(tools, "one__counts") && has(tools, "two__counts"))
            .await;
    }
    // What was accepted becomes something else, of which no client is told before it is accepted.
    gateway.tell("one", "changed");
    let meta = tool_call(1, "", &json!({}))["params"]["_meta"].clone();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let start = Instant::now();
    loop {
        let told = gateway.ask(&list);
        assert!(!told.contains("Says something else"), "{told}");
        if told.matches("Says it again").count() == 1 {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "it takes too long until the tool is not served: {told}");
    }
    let refused = gateway.ask(&tool_call(2, "one__say", &json!({ "text": "hello" })));
    assert!(refused.contains("haft mcp accept one") && !refused.contains("one: hello"), "{refused}");
    assert_eq!(clients[0].say("two__say").await, "ok: two: hello");
    for client in clients {
        client.leave().await;
    }
}
