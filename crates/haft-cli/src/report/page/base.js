'use strict';
// All text of the report comes from tools and models. It is put on the page with `textContent` alone.

let report = JSON.parse(document.getElementById('data').textContent);

/** Makes objects again of what the page has as rows. */
function unpacked({ columns, values, rows }) {
  return rows.map((row) => {
    const one = {};
    row.forEach((cell, place) => {
      const name = columns[place];
      if (cell !== null) one[name] = values[name] ? values[name][cell] : cell;
    });
    return one;
  });
}
for (const name of ['calls', 'turns']) if (report[name]?.rows) report[name] = unpacked(report[name]);
const byId = (id) => document.getElementById(id);

/** Makes an element with a class, properties and children; a child that is a string is text. */
function make(name, properties, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null) continue;
    if (/^aria[A-Z]/.test(key)) element.setAttribute(`aria-${key.slice(4).toLowerCase()}`, value);
    else if (key === 'role') element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

const STATUS = {
  ok: { mark: '✓', text: 'ok', kind: 'good' },
  error: { mark: '✗', text: 'failed', kind: 'bad' },
  denied: { mark: '⊘', text: 'denied', kind: 'bad' },
  timed_out: { mark: '✗', text: 'timed out', kind: 'bad' },
  cancelled: { mark: '–', text: 'cancelled', kind: 'quiet' },
  skipped: { mark: '–', text: 'skipped', kind: 'quiet' },
  waiting: { mark: '?', text: 'waiting', kind: 'asks' },
  unfinished: { mark: '…', text: 'not finished', kind: 'asks' },
};
const statusOf = (call) => STATUS[call.status] || { mark: '·', text: call.status, kind: 'quiet' };
const statusText = (call) => {
  const { text } = statusOf(call);
  return call.error && call.error !== 'failed' ? `${text}: ${call.error.replaceAll('_', ' ')}` : text;
};

/** Writes a duration, given in microseconds. */
function spoken(us) {
  if (us === undefined || us === null) return '–';
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${us < 1e4 ? (us / 1000).toFixed(1) : Math.round(us / 1000)} ms`;
  const seconds = us / 1e6;
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(1)} s`;
  const minutes = seconds / 60;
  if (minutes < 120) return `${Math.floor(minutes)} min ${Math.floor(seconds % 60)} s`;
  const hours = minutes / 60;
  return hours < 48 ? `${Math.floor(hours)} h ${Math.floor(minutes % 60)} min` : `${(hours / 24).toFixed(1)} days`;
}

const counted = (count, word) => `${grouped(count)} ${word}${count === 1 ? '' : 's'}`;
const grouped = (number) => number.toLocaleString('en');
/** Writes a large number short, as in `1.83 M`. */
const rounded = (number) => (number < 1e6 ? grouped(number) : `${(number / (number < 1e9 ? 1e6 : 1e9)).toFixed(2)} ${number < 1e9 ? 'M' : 'G'}`);

function bytes(count) {
  if (count < 1024) return `${count} B`;
  return count < 1048576 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1048576).toFixed(1)} MiB`;
}

const two = (number, digits = 2) => String(number).padStart(digits, '0');
/** Writes a time of the day where the page is read, to milliseconds. */
function clock(ms) {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
}
function day(ms) {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

const MONEY = (nanos) => (nanos / 1e9).toFixed(nanos < 1e7 ? 4 : 2);
/** Writes an amount of what a run has a budget of. */
function amount(kind, value) {
  if (kind === 'wall_time') return spoken(value * 1000);
  return kind === 'cost' ? MONEY(value) : rounded(value);
}
const BUDGETS = { turns: 'model turns', calls: 'tool calls', tokens: 'tokens', wall_time: 'time', cost: 'money' };

/** Says in one sentence who decided. */
function decision(by) {
  const said = (text, reason) => (reason ? `${text}: ${reason}` : text);
  switch (by.by) {
    case 'rule': {
      const word = { allow: 'allowed', ask: 'asked about', deny: 'denied' }[by.decision] || by.decision;
      return said(`${word} by the policy`, (by.rules || []).join(', ') || 'no rule speaks of it');
    }
    case 'person': {
      const words = { approved: 'approved', approved_edited: 'approved with other arguments', denied: 'denied' };
      return said(words[by.answer] ? `${words[by.answer]} by a person` : 'not answered', by.reason);
    }
    case 'grant': return said('answered before', (by.rules || []).join(', '));
    case 'layer': return said('answered by a layer', by.reason);
    default: return 'decided by nobody: it did not come to that';
  }
}

/** The name of a run, as people tell it from the others. */
function nameOf(index) {
  const run = report.runs[index];
  return run.label || run.run;
}

function say(text) { byId('said').textContent = text; }

/** Copies a text, also where the page is a file and its browser lends no clipboard to files. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea', { value: text, className: 'sr' });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  button.textContent = 'Copied';
  say('copied');
  setTimeout(() => { button.textContent = 'Copy'; }, 1500);
}

/** What is chosen, and who wants to know when that changes. */
const state = { shown: report.calls.map((_, index) => index), chosen: -1, open: false, words: [], run: -1 };
const listeners = [];
function changed(what) { for (const listener of listeners) listener(what); }
