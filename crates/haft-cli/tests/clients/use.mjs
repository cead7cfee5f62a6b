// What the clients of both TypeScript SDKs do with `haft serve`, in the directory that is served; it holds `notes.txt`.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

// How long is waited for what begins, and twice the time in which what a client no longer waits for has to be gone, in
// milliseconds.
const PATIENCE = 30000;
const GONE = 4000;

export async function use(era, client, transport, { onElicit, call }) {
  const questions = [];
  onElicit(async ({ params }) => {
    questions.push(params.message);
    return { action: "accept", content: { answer: "once" } };
  });
  await client.connect(transport);

  const names = (await client.listTools()).tools.map((tool) => tool.name);
  for (const name of ["read_file", "write_file", "bash"]) assert.ok(names.includes(name), name);

  const read = await call("read_file", { path: "notes.txt" });
  assert.match(read.content[0].text, /three apples/);
  assert.deepEqual(questions, []);

  // What the policy does not allow is asked about, and is done with the answer.
  const written = await call("write_file", { path: "new.txt", content: era });
  assert.ok(!written.isError, JSON.stringify(written));
  assert.equal(questions.length, 1);
  assert.equal(readFileSync("new.txt", "utf8"), era);

  // What a command prints arrives while it runs.
  const progress = [];
  const lines = "for n in 1 2 3; do echo $n; sleep 0.4; done";
  const run = await call("bash", { command: lines }, { onprogress: (now) => progress.push(now.progress) });
  assert.ok(!run.isError, JSON.stringify(run));
  assert.ok(progress.length > 0, "no progress");

  // The arguments are wrong: that is for the model to correct and no error of the protocol.
  assert.equal((await call("read_file", { paths: 1 })).isError, true);

  // A call that nobody waits for any more ends, with its processes.
  const aborted = new AbortController();
  const hanging = call("bash", { command: "echo $$ > pid; sleep 60" }, { signal: aborted.signal });
  const refused = assert.rejects(hanging);
  await until(() => existsSync("pid") && readFileSync("pid", "utf8").trim() !== "", PATIENCE);
  aborted.abort("enough");
  await refused;
  await until(() => !existsSync(`/proc/${readFileSync("pid", "utf8").trim()}`), GONE);
  rmSync("pid");

  // The connection outlives the call.
  assert.ok((await client.listTools()).tools.length > 0);
  await client.close();
}

async function until(holds, time) {
  const end = Date.now() + time;
  while (!holds()) {
    assert.ok(Date.now() < end, `${holds} does not come true`);
    await sleep(20);
  }
}
