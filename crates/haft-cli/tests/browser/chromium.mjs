// Drives a headless Chromium over the pipe that it offers for that: no port, no package.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-default-apps', '--disable-extensions', '--disable-dev-shm-usage',
  '--hide-scrollbars', '--remote-debugging-pipe',
];
/** How long an answer may take, in milliseconds. */
const PATIENCE = 60_000;

export class Chromium {
  #process; #profile; #next = 1; #waiting = new Map(); #listeners = []; #rest = '';
  #said = ''; #end; #ended;

  constructor(program = process.env.CHROMIUM || 'chromium') {
    this.#profile = mkdtempSync(join(tmpdir(), 'haft-chromium-'));
    this.#process = spawn(program, [...FLAGS, `--user-data-dir=${this.#profile}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
    // What it said last is why it ended.
    this.#process.stderr.setEncoding('utf8').on('data', (text) => { this.#said = (this.#said + text).slice(-4096); });
    this.#ended = new Promise((resolve) => {
      const end = (why) => {
        this.#end = new Error(`${why}\n${this.#said}`);
        for (const { reject } of this.#waiting.values()) reject(this.#end);
        this.#waiting.clear();
        resolve();
      };
      this.#process.on('error', (error) => end(`${program} cannot be started: ${error.message}`));
      this.#process.on('close', (code) => end(`${program} ended with ${code}`));
    });
    this.#process.stdio[3].on('error', () => {});
    this.#process.stdio[4].setEncoding('utf8').on('data', (data) => this.#take(data));
  }

  #take(data) {
    const messages = (this.#rest + data).split('\0');
    this.#rest = messages.pop();
    for (const text of messages) {
      const message = JSON.parse(text);
      const waiting = this.#waiting.get(message.id);
      if (!waiting) { for (const listener of this.#listeners) listener(message); continue; }
      this.#waiting.delete(message.id);
      if (message.error) waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
      else waiting.resolve(message.result);
    }
  }

  send(method, params = {}, sessionId) {
    if (this.#end) return Promise.reject(this.#end);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method}: no answer`)), PATIENCE);
      const done = (then) => (value) => { clearTimeout(late); then(value); };
      this.#waiting.set(id, { method, resolve: done(resolve), reject: done(reject) });
      this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  listen(listener) { this.#listeners.push(listener); }

  /** Opens a page in a window of this size; what goes wrong in it is noted from the start. */
  async page({ width = 1280, height = 900, scheme = 'light', scale = 1 } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Security']) await page.send(`${domain}.enable`);
    await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: false });
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    return page;
  }

  async close() {
    await this.send('Browser.close').catch(() => this.#process.kill('SIGKILL'));
    await this.#ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  /** What the page said of faults, and what it asked the network for. */
  faults = []; requests = []; dialogs = 0;
  #browser; #session; #target; #loaded;

  constructor(browser, session, target) {
    [this.#browser, this.#session, this.#target] = [browser, session, target];
    browser.listen(({ sessionId, method, params }) => { if (sessionId === session) this.#note(method, params); });
  }

  #note(method, params) {
    if (method === 'Runtime.exceptionThrown') this.faults.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    else if (method === 'Runtime.consoleAPICalled') this.faults.push(`console.${params.type}: ${params.args.map((arg) => arg.value).join(' ')}`);
    else if (method === 'Log.entryAdded') this.faults.push(`${params.entry.level}: ${params.entry.text}`);
    else if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    else if (method === 'Page.loadEventFired') this.#loaded?.();
    else if (method === 'Page.javascriptDialogOpening') {
      this.dialogs += 1;
      this.send('Page.handleJavaScriptDialog', { accept: false });
    }
  }

  send(method, params) { return this.#browser.send(method, params, this.#session); }

  /** Opens a page and waits until it is loaded; gives how long that took, in milliseconds. */
  async open(url) {
    const loaded = new Promise((resolve) => { this.#loaded = resolve; });
    const start = performance.now();
    const { errorText } = await this.send('Page.navigate', { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
    return performance.now() - start;
  }

  /** Evaluates an expression in the page; a promise is waited for. */
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
    return result.value;
  }

  /** Waits until what was drawn can be seen. */
  settled() { return this.value('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))'); }

  async key(key, modifiers = 0) {
    const codes = { Enter: 13, Escape: 27, ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39, Home: 36, End: 35, Tab: 9 };
    const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
    const common = { key, modifiers, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0) };
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', text, ...common });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...common });
    await this.settled();
  }

  async type(text) {
    await this.send('Input.insertText', { text });
    await this.settled();
  }

  async shoot(path) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  /** Closes it; what went wrong before is not to be hidden by that. */
  close() { return this.#browser.send('Target.closeTarget', { targetId: this.#target }).catch(() => {}); }
}
