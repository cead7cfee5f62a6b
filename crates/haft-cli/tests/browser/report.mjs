// Tries the pages of `haft report` in a browser: `report.mjs LARGE CALLS HOSTILE [FOLDER]`, where FOLDER gets screenshots.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Chromium } from './chromium.mjs';

/** A page must be there after so many milliseconds; the machine may have other things to do. */
const MOST_MS = 10_000;

const [large, calls, hostile, folder] = process.argv.slice(2);
const count = Number(calls);
const url = (path) => pathToFileURL(resolve(path)).href;
const ready = 'document.documentElement.dataset.ready';
const focus = 'document.activeElement.id';
const counted = "document.getElementById('count').textContent";
const title = "document.getElementById('detail-title')?.textContent";
const isOpen = "!document.getElementById('detail').hidden";
const chosen = "document.querySelector('[aria-selected=true]')?.getAttribute('aria-posinset')";
const SHIFT = 8;

const browser = new Chromium();
const report = {};

/** Opens a page, has something done with it, and checks that it did nothing that no page may. */
async function on(name, path, window, work) {
  const page = await browser.page(window);
  try {
    const loaded = await page.open(url(path));
    await page.settled();
    assert.equal(await page.value(ready), 'yes', `${name}: it is not ready: ${page.faults.join('\n')}`);
    await work(page, loaded);
    assert.deepEqual(page.faults, [], `${name}: it reports faults`);
    assert.deepEqual(page.requests, [url(path)], `${name}: it asks for more than itself`);
    if (folder) await page.shoot(join(folder, `${name}.png`));
  } catch (error) {
    error.message = `${name}: ${error.message}\n${page.faults.join('\n')}`;
    throw error;
  } finally {
    await page.close();
  }
}

/** The least of three: others may use the machine, too. */
async function measured() {
  const times = [];
  for (let round = 0; round < 3; round += 1) {
    await on('large', large, {}, async (page, loaded) => {
      times.push(Math.round(loaded));
      assert.ok(loaded < MOST_MS, `it is there after ${loaded} ms`);
      assert.equal(await page.value(counted), `${count.toLocaleString('en')} calls`);
      assert.ok(await page.value("document.querySelectorAll('.row').length") < 100, 'rows that cannot be seen are not made');
    });
  }
  report.load_ms = Math.min(...times);
}

async function keyboard(page) {
  await page.key('/');
  assert.equal(await page.value(focus), 'search');
  await page.type('needle-77 read_file');
  const few = await page.value(counted);
  assert.match(few, /^[\d,]+ of [\d,]+ calls$/);
  await page.key('Escape');
  assert.equal(await page.value(counted), `${count.toLocaleString('en')} calls`);
  await page.type(`needle-${count - 1}`);
  assert.equal(await page.value(counted), `1 of ${count.toLocaleString('en')} calls`);
  await page.key('Enter');
  assert.equal(await page.value(focus), 'rows');
  assert.equal(await page.value(chosen), '1');
  await page.key('Enter');
  assert.equal(await page.value(isOpen), true);
  assert.equal(await page.value(focus), 'detail');
  const text = await page.value("document.getElementById('detail').textContent");
  assert.ok(text.includes(`needle-${count - 1}`), 'the output is there');
  for (const part of ['Decision', 'What it touches', 'Arguments', 'Output', 'Time', 'Names']) assert.ok(text.includes(part), part);
  await page.key('Escape');
  assert.equal(await page.value(isOpen), false);
  assert.equal(await page.value(focus), 'rows');
  await page.key('/');
  await page.key('Escape');
  await page.key('Escape');
  await page.key('Home');
  for (let round = 0; round < 3; round += 1) await page.key('ArrowDown');
  assert.equal(await page.value(chosen), '4');
  await page.key('End');
  assert.equal(await page.value(chosen), String(count));
  const [active, row] = [await page.value("document.getElementById('rows').getAttribute('aria-activedescendant')"), await page.value("document.querySelector('[aria-selected=true]').id")];
  assert.equal(active, row);
  await page.key('Enter');
  const before = await page.value(title);
  assert.ok(before);
  await page.key('Escape');
}

async function filters(page) {
  const set = (id, value) => page.value(`(() => { const one = document.getElementById('${id}'); one.value = '${value}'; one.dispatchEvent(new Event('change')); })()`);
  await set('by-status', 'denied');
  const denied = Number((await page.value(counted)).split(' ')[0].replaceAll(',', ''));
  assert.ok(denied > 0 && denied < count);
  await set('by-tool', 'edit_file');
  assert.ok(Number((await page.value(counted)).split(' ')[0].replaceAll(',', '')) < denied);
  await set('by-status', '');
  await set('by-run', '1');
  await page.value("document.querySelector('.row').click()");
  await page.settled();
  const diff = await page.value("[...document.querySelectorAll('#detail .diff .add, #detail .diff .del')].map((line) => line.textContent[0]).join('')");
  assert.equal(diff, '-+', 'a diff keeps its signs');
  // A run in the tree shows its calls, and a second time all.
  await set('by-tool', '');
  await page.value("document.querySelector('#tree button[aria-pressed=true]').click()");
  assert.equal(await page.value(counted), `${count.toLocaleString('en')} calls`);
}

async function timeline(page) {
  const drawn = "(() => { const pen = document.getElementById('chart').getContext('2d'); const { width, height } = pen.canvas; const data = pen.getImageData(0, 0, width, height).data; const colours = new Set(); for (let at = 0; at < data.length; at += 4) colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]); return colours.size; })()";
  assert.ok(await page.value(drawn) > 5, 'the timeline is drawn');
  await page.value("document.getElementById('lanes').focus()");
  await page.key('ArrowRight');
  assert.ok(await page.value(chosen));
  await page.key('+');
  await page.key('0');
  await page.value("document.getElementById('even').click()");
  assert.equal(await page.value("document.getElementById('even').getAttribute('aria-pressed')"), 'true');
}

/** The turns of the models are told from calls, and are there as a table, too. */
async function turns(page) {
  const summary = await page.value("document.querySelector('#turns summary').textContent");
  assert.match(summary, /^[\d,]+ turns of models$/);
  assert.ok(Number(summary.split(' ')[0].replaceAll(',', '')) >= count);
  await page.value("document.querySelector('#turns summary').click()");
  const rows = await page.value("document.querySelectorAll('#turns tbody tr').length");
  assert.equal(rows, Math.min(500, Number(summary.split(' ')[0].replaceAll(',', ''))));
  const failed = await page.value("document.querySelector('#turns tbody .bad').textContent");
  assert.match(failed, /^✗ turn \d+ – rate limited$/);
  const first = await page.value("[...document.querySelectorAll('#turns tbody tr')[0].cells].map((cell) => cell.textContent)");
  assert.equal(first.length, 9);
  assert.equal(first[2], 'test-model');
  assert.equal(await page.value("document.querySelector('.legend .of-turns').hidden"), false);
  assert.match(await page.value("document.getElementById('lanes').getAttribute('aria-label')"), / calls and [\d,]+ turns in 5 runs;/);
  await page.value("document.querySelector('#turns summary').click()");
  for (let round = 0; round < 16; round += 1) await page.value("document.getElementById('zoom-in').click()");
  // The picture is of where something happens: the timeline goes to the call that is chosen.
  await page.value("document.getElementById('lanes').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))");
}

/** What tools said runs nothing, loads nothing, hides nothing and makes no element. */
async function attacks(page) {
  assert.equal(await page.value('window.broken'), undefined);
  await page.key('/');
  await page.key('ArrowDown');
  for (let round = 0; round < 3; round += 1) {
    await page.key('Enter');
    assert.equal(await page.value(isOpen), true);
    const text = await page.value("document.getElementById('detail').textContent");
    assert.ok(text.includes("</script><script>window.broken = 1</script>"), 'the text is shown as it is');
    for (const shown of ['\\u{1b}[2J', '\\u{202e}fdp.exe', '\\u{200b}', '{{data}}']) assert.ok(text.includes(shown), shown);
    assert.doesNotMatch(text, /[\u001b\u202e\u200b\u2028]/);
    await page.key('Escape');
    await page.key('ArrowDown');
  }
  assert.equal(await page.value('window.broken'), undefined);
  assert.equal(page.dialogs, 0);
  assert.deepEqual(await page.value("[...document.querySelectorAll('img, iframe, object, embed, link, script:not([type])')].map((one) => one.tagName)"), ['SCRIPT']);
  // What stands in the page is what may run: no handler, and no other script, would.
  const inserted = "(() => { const script = document.createElement('script'); script.textContent = 'window.broken = 3'; document.body.append(script); return window.broken; })()";
  assert.equal(await page.value(inserted), undefined);
  const fetched = "fetch('https://example.com/').then(() => 'loaded', () => 'refused')";
  assert.equal(await page.value(fetched), 'refused');
  assert.ok(page.faults.length >= 2 && page.faults.every((fault) => /Content Security Policy/.test(fault)), page.faults.join('\n'));
  assert.ok(page.requests.every((request) => request.startsWith('file:')), page.requests.join('\n'));
  [page.faults, page.requests] = [[], [url(hostile)]];
}

/** On a narrow window nothing is wider than it, and a call covers the rest. */
async function narrow(page) {
  const fits = 'document.documentElement.scrollWidth <= window.innerWidth';
  assert.equal(await page.value(fits), true);
  await page.key('/');
  await page.key('ArrowDown');
  await page.key('Enter');
  assert.equal(await page.value(fits), true);
  assert.equal(await page.value("document.getElementById('calls').inert"), true);
  await page.key('Tab', SHIFT);
  await page.key('Escape');
  assert.equal(await page.value("document.getElementById('calls').inert"), false);
}

/** Every part that can be used has a name. */
async function names(page) {
  const { nodes } = await page.send('Accessibility.getFullAXTree');
  const used = new Set(['button', 'searchbox', 'combobox', 'listbox', 'option', 'textbox', 'meter']);
  const nameless = nodes.filter((node) => !node.ignored && used.has(node.role?.value) && !node.name?.value);
  assert.deepEqual(nameless.map((node) => node.role.value), []);
}

try {
  if (folder) mkdirSync(folder, { recursive: true });
  await measured();
  await on('keyboard', large, {}, keyboard);
  await on('filters', large, { scheme: 'dark' }, filters);
  await on('timeline', large, { scheme: 'dark' }, timeline);
  await on('turns', large, {}, turns);
  await on('turns-dark', large, { scheme: 'dark' }, turns);
  await on('names', large, {}, names);
  await on('hostile', hostile, {}, attacks);
  await on('narrow', large, { width: 380, height: 800 }, narrow);
  await on('narrow-hostile', hostile, { width: 320, height: 700, scheme: 'dark' }, narrow);
  if (folder) {
    const open = async (page) => { await page.key('/'); await page.type('edit_file'); await page.key('Enter'); await page.key('Enter'); };
    await on('open-light', large, { width: 1280, height: 1000 }, open);
    await on('open-dark', large, { width: 1280, height: 1000, scheme: 'dark' }, open);
    await on('open-narrow', large, { width: 380, height: 800 }, open);
  }
  console.log(JSON.stringify(report));
} finally {
  await browser.close();
}
