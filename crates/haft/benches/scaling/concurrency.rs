//! Batches of more and more calls of 10 ms.

use crate::{Bench, least, milliseconds, point};
use haft::{Access, Accesses, CallContext, Resource, Scheme, ToolError, ToolRegistry, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

const FILE: Scheme = Scheme::new("file");
const EACH: Duration = Duration::from_millis(10);

/// How many calls of the class run at once when nothing else is said.
const READS_AT_ONCE: usize = 32;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file that is touched.
    path: String,
}

fn bench(name: &str, access: fn(Resource) -> Access) -> Bench {
    let accesses =
        move |input: &Input| Ok(Accesses::from(access(Resource::exact(FILE, input.path.as_str()))));
    let tool = tool_fn(name, "Touches a file.", accesses, |_: Input, _: CallContext| async {
        tokio::time::sleep(EACH).await;
        Ok::<_, ToolError>("")
    });
    Bench::new(ToolRegistry::new().with(tool.unwrap()).unwrap())
}

fn inputs(calls: usize, files: usize) -> Vec<Value> {
    (0..calls).map(|place| json!({ "path": (place % files).to_string() })).collect()
}

pub(crate) fn sweep() {
    let (read, write) = (bench("read", Access::read), bench("write", Access::write));
    for calls in [1_usize, 2, 4, 8, 16, 32, 64, 128, 256] {
        let floor = least(3, || {
            read.runtime.block_on(async {
                for _ in 0..calls.div_ceil(READS_AT_ONCE) {
                    tokio::time::sleep(EACH).await;
                }
            });
        });
        let reads = least(5, || read.call("read", inputs(calls, calls)));
        let writes = least(3, || write.call("write", inputs(calls, calls)));
        point("concurrency", "reads (32 at once)", calls, milliseconds(reads));
        point("concurrency", "writes of different files (8 at once)", calls, milliseconds(writes));
        if calls <= 64 {
            let one = least(2, || write.call("write", inputs(calls, 1)));
            point("concurrency", "writes of one file", calls, milliseconds(one));
        }
        point("concurrency", "as many sleeps as there are rounds of 32", calls, milliseconds(floor));
    }
}
