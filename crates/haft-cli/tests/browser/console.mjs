// Tries the page of `haft serve --console` in a browser, with calls that really wait and a server whose tools change:
// `console.mjs HAFT GUEST [FOLDER]`, where GUEST is that server and FOLDER gets screenshots.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Chromium } from './chromium.mjs';

const [haft, guest, folder] = process.argv.slice(2);
/** How long something may take to come about, in milliseconds; the machine may have other things to do. */
const PATIENCE = 60_000;
const HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>\u202efdp.exe\u200b{{data}}";

/** Is a server of a directory of its own, with a page. */
class Served {
  /** Starts it for a user with this configuration, or with none. */
  async start(configured = () => '') {
    this.directory = mkdtempSync(join(tmpdir(), 'haft-console-'));
    writeFileSync(join(this.directory, 'notes.md'), 'one\ntwo\nthree\n');
    const [config, state] = ['.config', '.state'].map((name) => join(this.directory, name));
    mkdirSync(join(config, 'haft'), { recursive: true });
    writeFileSync(join(config, 'haft/haft.toml'), configured(this.directory));
    const env = { ...process.env, HAFT_STATE: join(state, 'haft.db'), XDG_CONFIG_HOME: config, XDG_STATE_HOME: state };
    this.process = spawn(haft, ['serve', '--http', '127.0.0.1:0', '--console'], { cwd: this.directory, env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.ended = new Promise((done) => { this.process.on('close', done); });
    await new Promise((done, fail) => {
      this.process.on('close', () => fail(new Error('haft has ended')));
      createInterface({ input: this.process.stderr }).on('line', (line) => {
        this.console ??= line.match(/^Console at (\S+)/)?.[1];
        this.mcp ??= line.match(/^Serving at (\S+)/)?.[1];
        this.next = line.match(/^The console was opened\. For another browser: (\S+)/)?.[1] || this.next;
        if (this.console && this.mcp) done();
      });
    });
    return this;
  }

  /** Makes a call as a client that cannot show a form; its reply comes when it has been answered. */
  async call(name, args) {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {} };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } });
    const text = await (await fetch(this.mcp, { method: 'POST', headers, body })).text();
    const { result } = JSON.parse(text.split('\n').find((line) => line.includes('"jsonrpc"')).replace(/^data: /, ''));
    return { failed: result.isError === true, text: result.content[0].text };
  }

  write(path, content) { return this.call('write_file', { path, content }); }
  file(name) { return existsSync(join(this.directory, name)) ? readFileSync(join(this.directory, name), 'utf8') : undefined; }

  async end() {
    this.process.kill();
    await this.ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const browser = new Chromium();
const served = await new Served().start();
const origin = new URL(served.console).origin;

/** Waits until an expression holds in the page. */
async function until(page, expression) {
  const end = Date.now() + PATIENCE;
  while (!(await page.value(expression))) {
    assert.ok(Date.now() < end, `it does not come to \`${expression}\`: ${await page.value('document.body.innerText')}`);
    await new Promise((done) => { setTimeout(done, 50); });
  }
}
const waits = (page, count) => until(page, `document.querySelectorAll('#cards > li').length === ${count}`);
const press = (page, name) => page.value(`(() => { const button = [...document.querySelectorAll('button')].find((one) => (one.getAttribute('aria-label') || one.textContent).startsWith(${JSON.stringify(name)})); button.focus(); return document.activeElement === button; })()`).then((found) => { assert.ok(found, name); return page.key('Enter'); });
const set = (page, selector, value) => page.value(`(() => { const field = document.querySelector(${JSON.stringify(selector)}); field.focus(); field.value = ${JSON.stringify(value)}; })()`);
const shoot = (page, name) => (folder ? page.shoot(join(folder, `${name}.png`)) : undefined);
const clean = (page, name) => { assert.deepEqual(page.faults, [], `${name}: it reports faults`); assert.equal(page.dialogs, 0); };

/** Opens the page by the address that was printed last. */
async function open(window, of = served) {
  const page = await browser.page(window);
  await page.open(of.next || of.console);
  await until(page, "document.getElementById('link')?.textContent === 'live'");
  return page;
}

async function answers(page) {
  assert.equal(await page.value('location.href'), `${origin}/`, 'no secret stays in the address');
  assert.equal(await page.value('document.cookie'), '', 'no script reads the cookie');
  // Approved by keyboard, while the client waits.
  const approved = served.write('approved.txt', 'a\n');
  await waits(page, 1);
  assert.equal(await page.value("document.getElementById('said').textContent"), '1 call waits for you: write_file of mcp:anyone');
  assert.equal(await page.value("document.querySelector('.card .diff .add')?.textContent"), '+a');
  assert.equal(served.file('approved.txt'), undefined);
  await press(page, 'Approve write_file');
  assert.equal((await approved).failed, false);
  assert.equal(served.file('approved.txt'), 'a\n');
  await waits(page, 0);
  assert.notEqual(await page.value('document.activeElement.tagName'), 'BODY', 'the focus goes on');
  // Denied, with a reason for the model.
  const denied = served.write('denied.txt', 'b\n');
  await waits(page, 1);
  await set(page, '.card input[type=text]', 'not today');
  await press(page, 'Deny write_file');
  const told = await denied;
  assert.equal(told.failed, true);
  assert.match(told.text, /not approved: not today/);
  await waits(page, 0);
  // With other arguments, after bad ones.
  const edited = served.write('edited.txt', 'c\n');
  await waits(page, 1);
  await press(page, 'Edit the arguments');
  assert.equal(await page.value('document.activeElement.tagName'), 'TEXTAREA');
  await set(page, '.card textarea', '{ "path": 1 }');
  await press(page, 'Approve write_file of mcp:anyone with');
  await until(page, "document.querySelector('.card .verdict').textContent.startsWith('✗ the call cannot be made with these arguments')");
  await set(page, '.card textarea', '{ "path": "other.txt", "content": "d\\n" }');
  await press(page, 'Approve write_file of mcp:anyone with');
  assert.equal((await edited).failed, false);
  assert.deepEqual([served.file('edited.txt'), served.file('other.txt')], [undefined, 'd\n']);
  await waits(page, 0);
  // The browser's log says that bad arguments were refused.
  page.faults = page.faults.filter((fault) => !/409 \(Conflict\)/.test(fault));
  // Remembered here, so that the next one is not asked about, until that is revoked.
  const first = served.write('approved.txt', 'e\n');
  await waits(page, 1);
  await set(page, '.card select', 'workspace');
  await press(page, 'Approve write_file');
  await first;
  await until(page, "document.querySelectorAll('#grant-list li').length === 1");
  assert.equal((await served.write('approved.txt', 'f\n')).failed, false);
  await press(page, 'Revoke');
  await until(page, "document.querySelectorAll('#grant-list li').length === 0");
  await until(page, "document.querySelectorAll('.row').length >= 5");
  clean(page, 'answers');
}

/** What is being written and where the focus is stays when something else comes. */
async function steady(page) {
  const one = served.write('one.txt', '1\n');
  await waits(page, 1);
  await set(page, '.card input[type=text]', 'because');
  const other = served.call('bash', { command: 'echo two > two.txt' });
  await waits(page, 2);
  assert.equal(await page.value("document.activeElement.value"), 'because');
  // One that is chosen in the list of calls stays so, too.
  await page.value("document.querySelector('.row').click()");
  const title = await page.value("document.getElementById('detail-title').textContent");
  await press(page, 'Deny bash');
  assert.equal((await other).failed, true);
  await waits(page, 1);
  assert.equal(await page.value("document.getElementById('detail-title').textContent"), title);
  await page.key('Escape');
  await press(page, 'Deny write_file');
  await one;
  await waits(page, 0);
  clean(page, 'steady');
}

/** Nothing is lost while the page has no connection. */
async function reconnects(page) {
  const network = (offline) => page.send('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await network(true);
  await until(page, "document.getElementById('link').textContent === 'not connected'");
  const call = served.write('meanwhile.txt', 'm\n');
  await network(false);
  await waits(page, 1);
  await until(page, "document.getElementById('link').textContent === 'live' && document.getElementById('trouble').hidden");
  await press(page, 'Approve write_file');
  assert.equal((await call).failed, false);
  await waits(page, 0);
  page.faults = page.faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED|Failed to load resource/.test(fault));
  clean(page, 'reconnects');
}

/** What a tool or a model wrote makes no element and runs nothing. */
async function hostile(page) {
  const call = served.call('bash', { command: `echo "${HOSTILE}" > hostile.txt` });
  await waits(page, 1);
  const text = await page.value("document.querySelector('.card').textContent");
  assert.ok(text.includes('</script><script>window.broken = 1</script>'), text);
  for (const shown of ['\\u{202e}fdp.exe', '\\u{200b}', '{{data}}']) assert.ok(text.includes(shown), shown);
  assert.doesNotMatch(text, /[\u202e\u200b]/);
  assert.deepEqual(await page.value("[...document.querySelectorAll('img, iframe, object, embed, link, script:not([type])')].map((one) => one.tagName)"), ['SCRIPT']);
  await page.value("document.querySelectorAll('.card button').forEach((one) => one.textContent.startsWith('Edit') && one.click())");
  const typed = await page.value("document.querySelector('.card textarea').value");
  assert.ok(JSON.parse(typed).command.includes(HOSTILE), 'what is edited is what was asked');
  assert.equal(await page.value('window.broken'), undefined);
  await press(page, 'Deny bash');
  assert.equal((await call).failed, true);
  await waits(page, 0);
  clean(page, 'hostile');
  const inserted = "(() => { const script = document.createElement('script'); script.textContent = 'window.broken = 3'; document.body.append(script); return window.broken; })()";
  assert.equal(await page.value(inserted), undefined);
  assert.equal(await page.value("fetch('http://127.0.0.1:9/').then(() => 'loaded', () => 'refused')"), 'refused');
  assert.ok(page.faults.length >= 2 && page.faults.every((fault) => /Content Security Policy/.test(fault)), page.faults.join('\n'));
  page.faults = [];
}

/** A page of another origin, in the browser that was let in, shows nothing of it and changes nothing. */
async function attacked(page) {
  const evil = createServer((_, response) => response.end('<!doctype html><title>evil</title>')).listen(0, '127.0.0.1');
  await new Promise((done) => { evil.on('listening', done); });
  const call = served.write('attacked.txt', 'x\n');
  await waits(page, 1);
  const { id, digest } = await page.value("fetch('/live', { headers: { 'x-haft-console': sessionStorage.getItem('haft-console') } }).then((answer) => answer.json()).then((live) => live.waiting[0])");
  const body = JSON.stringify({ id, digest, answer: 'approve' });
  // Another port of this address is the same site, so that the cookie is sent; another name is another site.
  for (const host of ['127.0.0.1', 'localhost']) {
    const other = await browser.page();
    await other.open(`http://${host}:${evil.address().port}/`);
    const sent = (options) => other.value(`fetch('${origin}/answer', ${JSON.stringify({ method: 'POST', credentials: 'include', body, ...options })}).then((answer) => answer.type + answer.status, () => 'refused')`);
    assert.equal(await sent({ headers: { 'content-type': 'application/json', 'x-haft-console': 'a' } }), 'refused');
    assert.equal(await sent({ mode: 'no-cors', headers: { 'content-type': 'text/plain' } }), 'refused');
    assert.equal(await other.value(`fetch('${origin}/live', { credentials: 'include' }).then(() => 'read', () => 'refused')`), 'refused');
    await other.value(`new Promise((done) => { const form = document.createElement('form'); form.method = 'post'; form.enctype = 'text/plain'; form.action = '${origin}/answer'; form.target = 'sink'; const field = document.createElement('input'); field.name = ${JSON.stringify(body.slice(0, -1) + ', "x": "')}; field.value = '"}'; form.append(field); const frame = document.createElement('iframe'); frame.name = 'sink'; frame.onload = () => done(true); document.body.append(frame, form); form.submit(); })`);
    // In a frame there is nothing of it, on which somebody could be led to click.
    const framed = await other.value(`new Promise((done) => { const frame = document.createElement('iframe'); frame.onload = () => { let seen; try { seen = frame.contentDocument?.body?.textContent ?? 'closed'; } catch { seen = 'closed'; } done(seen); }; frame.src = '${origin}/'; document.body.append(frame); })`);
    assert.equal(framed, 'closed');
    assert.ok(other.faults.some((fault) => /frame|refused|403/i.test(fault)), other.faults.join('\n'));
    await other.close();
  }
  await page.settled();
  assert.equal(served.file('attacked.txt'), undefined);
  assert.equal(await page.value("document.querySelectorAll('#cards > li').length"), 1, 'it waits as before');
  await press(page, 'Deny write_file');
  assert.equal((await call).failed, true);
  await waits(page, 0);
  evil.close();
  clean(page, 'attacked');
}

/** Another tab is let in by no address that was used, and by no cookie alone. */
async function letIn() {
  const page = await browser.page();
  await page.open(served.console.split('#')[0]);
  assert.equal(await page.value('document.body.textContent.trim()'), 'refused');
  await page.open(`${origin}/`);
  await until(page, "document.getElementById('link')?.textContent === 'not let in'");
  assert.match(await page.value("document.getElementById('trouble').textContent"), /Open the address/);
  await page.close();
}

/** A tool that is not what it was is shown as it was and is, and can be called once a person has accepted exactly that. */
async function accepts() {
  const theirs = await new Served().start((directory) => `[mcp.servers.guest]\ncommand = ${JSON.stringify(guest)}\nargs = ["guest", ${JSON.stringify(directory)}]\n`);
  try {
    const page = await open({}, theirs);
    await until(page, "document.getElementById('server-list').textContent.includes('✓ ready')");
    assert.equal(await page.value("document.querySelectorAll('#held-list li').length"), 0);
    // It says something else of itself, with what would like to get out of the page.
    writeFileSync(join(theirs.directory, 'guest.changed'), `Sends it away. ${HOSTILE}`);
    await until(page, "document.querySelectorAll('#held-list li').length === 1");
    const text = await page.value("document.querySelector('#held-list li').textContent");
    assert.match(text, /held back.*guest \/ say.*its description changed since it was accepted/);
    assert.equal(await page.value("document.querySelector('#held-list .del').textContent"), '- description: Says it again.');
    const added = await page.value("document.querySelector('#held-list .add').textContent");
    assert.ok(added.startsWith('+ description: Sends it away. </script><script>') && added.includes('\\u{202e}fdp.exe'), added);
    assert.equal(await page.value('window.broken'), undefined);
    const { nodes } = await page.send('Accessibility.getFullAXTree');
    assert.ok(nodes.some((node) => node.role?.value === 'button' && node.name?.value === 'Accept guest / say as it is shown'));
    if (folder) {
      await page.value("document.getElementById('held-list').scrollIntoView()");
      await shoot(page, 'console-held');
    }
    // Until then nobody calls it.
    const before = await theirs.call('guest__say', { text: 'hello' });
    assert.ok(before.failed && before.text.includes('its description changed since it was accepted'), before.text);
    // What was shown is no longer what it is: that is not accepted.
    const old = await page.value("fetch('/live', { headers: { 'x-haft-console': sessionStorage.getItem('haft-console') } }).then((answer) => answer.json()).then((live) => live.held[0].digest)");
    writeFileSync(join(theirs.directory, 'guest.changed'), 'Sends it elsewhere.');
    await until(page, "document.querySelector('#held-list .add')?.textContent === '+ description: Sends it elsewhere.'");
    const body = JSON.stringify({ server: 'guest', digest: old });
    const late = await page.value(`fetch('/accept', { method: 'POST', body: ${JSON.stringify(body)}, headers: { 'content-type': 'application/json', 'x-haft-console': sessionStorage.getItem('haft-console') } }).then(async (answer) => [answer.status, (await answer.json()).said])`);
    assert.deepEqual(late, [409, 'it cannot be done: the tool has changed since it was shown, or waits no more; look at it again']);
    page.faults = page.faults.filter((fault) => !/409 \(Conflict\)/.test(fault));
    // By keyboard, as it is shown.
    await press(page, 'Accept guest / say');
    await until(page, "document.querySelectorAll('#held-list li').length === 0");
    assert.equal(await page.value("document.getElementById('said').textContent"), 'accepted `say`');
    assert.notEqual(await page.value('document.activeElement.tagName'), 'BODY', 'the focus goes on');
    const call = theirs.call('guest__say', { text: 'hello' });
    await waits(page, 1);
    await press(page, 'Approve guest__say');
    assert.deepEqual(await call, { failed: false, text: 'guest: hello' });
    clean(page, 'accepts');
    await page.close();
  } finally {
    await theirs.end();
  }
}

/** Every part that can be used has a name, nothing is wider than its window, and it looks so. */
async function looks() {
  const calls = [served.call('bash', { command: 'cargo test --workspace\ngit push origin main' }), served.write('notes.md', 'one\n2\nthree\nfour\n')];
  for (const [name, window] of [['console-light', {}], ['console-dark', { scheme: 'dark' }], ['console-narrow', { width: 380, height: 900 }]]) {
    const page = await open(window);
    await waits(page, 2);
    await page.settled();
    assert.equal(await page.value('document.documentElement.scrollWidth <= window.innerWidth'), true, name);
    const { nodes } = await page.send('Accessibility.getFullAXTree');
    const used = new Set(['button', 'searchbox', 'combobox', 'listbox', 'option', 'textbox', 'checkbox', 'meter', 'group', 'region']);
    const nameless = nodes.filter((node) => !node.ignored && used.has(node.role?.value) && !node.name?.value);
    assert.deepEqual(nameless.map((node) => node.role.value), [], name);
    await shoot(page, name);
    await page.value('window.scrollTo(0, document.body.scrollHeight)');
    await page.settled();
    await shoot(page, `${name}-below`);
    await page.value('window.scrollTo(0, 0)');
    if (name === 'console-narrow') {
      await press(page, 'Edit the arguments');
      await shoot(page, `${name}-edit`);
      for (const tool of ['bash', 'write_file']) await press(page, `Deny ${tool}`);
      await Promise.all(calls);
      await waits(page, 0);
    }
    clean(page, name);
    await page.close();
  }
}

try {
  if (folder) mkdirSync(folder, { recursive: true });
  const page = await open();
  for (const [name, work] of Object.entries({ answers, steady, reconnects, hostile, attacked })) {
    try {
      await work(page);
    } catch (error) {
      error.message = `${name}: ${error.message}\n${page.faults.join('\n')}`;
      await shoot(page, 'failed');
      throw error;
    }
  }
  await letIn();
  await accepts();
  await looks();
  await page.close();
} finally {
  await browser.close();
  await served.end();
}
