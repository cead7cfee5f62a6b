// All that is known of one call.

const panel = byId('detail');

/** Writes a text with the words that are searched for marked. */
function marked(text) {
  const words = state.words.filter((word) => word.length > 1);
  if (!words.length || text.length > 200000) return [text];
  const lower = text.toLowerCase();
  // Some letters change their length in lower case, and a place in the one would be another in the other.
  if (lower.length !== text.length) return [text];
  const parts = [];
  let from = 0;
  while (parts.length < 2000) {
    let [at, length] = [-1, 0];
    for (const word of words) {
      const found = lower.indexOf(word, from);
      if (found >= 0 && (at < 0 || found < at)) [at, length] = [found, word.length];
    }
    if (at < 0) break;
    parts.push(text.slice(from, at), make('mark', {}, text.slice(at, at + length)));
    from = at + length;
  }
  return [...parts, text.slice(from)];
}

function part(title, body, text, note) {
  const bar = make('header', {}, make('h3', {}, title), make('span.quiet', {}, note || ''));
  if (text) {
    const button = make('button', { type: 'button', ariaLabel: `Copy ${title.toLowerCase()}` }, 'Copy');
    button.addEventListener('click', () => copy(text, button));
    bar.append(button);
  }
  return make('div.part', {}, bar, body);
}

const cutNote = (text) => (text.omitted ? `${bytes(text.omitted)} of it are left out` : '');
const pre = (text) => make('pre', { tabIndex: 0 }, ...marked(text));

/** Draws a diff; the signs stay, so that colour is not the only difference. */
function diff(text) {
  const box = make('pre.diff', { tabIndex: 0 });
  for (const line of text.split('\n')) {
    const kind = /^(\+\+\+|---|diff )/.test(line) ? 'file' : { '+': 'add', '-': 'del', '@': 'place' }[line[0]];
    box.append(make(kind ? `span.${kind}` : 'span', {}, ...marked(line)));
  }
  return box;
}

function timings(call) {
  const box = make('div');
  if (call.timings !== 'none') {
    const bar = mini(call, false);
    bar.classList.add('split');
    box.append(bar);
  }
  const first = report.calls.reduce((least, other) => (other.at_us ? Math.min(least, other.at_us) : least), Infinity);
  box.append(facts([
    ['taken up', call.at_us ? `${clock(call.at_us / 1000)} (+${spoken(call.at_us - first)})` : 'not kept'],
    ['waiting', call.timings === 'none' ? 'not kept' : spoken(call.waited_us) + (call.timings === 'estimated' ? ', asking included' : '')],
    ['asking', call.timings === 'measured' ? spoken(call.asked_us) : 'not kept apart'],
    ['running', call.timings === 'none' ? 'not kept' : spoken(call.ran_us)],
    ['in all', spoken(call.took_us)],
  ]));
  return part('Time', box);
}

function outputPart(call) {
  if (!call.output) return part('Output', make('p.quiet', {}, call.bytes_total === undefined ? 'Nothing is kept of it.' : `Not kept; ${bytes(call.bytes_total)}, of which the model was given ${bytes(call.bytes_kept)}.`));
  const notes = [cutNote(call.output)];
  if (call.truncation) notes.push(`the model was given ${bytes(call.truncation.kept_bytes)} of ${bytes(call.truncation.total_bytes)}`);
  const text = call.output.text;
  return part('Output', text ? pre(text) : make('p.quiet', {}, 'It is empty.'), text, notes.filter(Boolean).join('; '));
}

/** Writes a text as it stands between the quotes of a shell: a model has chosen it. */
const inQuotes = (text) => text.replaceAll("'", "'\\''");
const quoted = (text) => (/^\w[\w.-]*$/.test(text) ? text : `'${inQuotes(text)}'`);

function detailOf(call) {
  const status = statusOf(call);
  const close = make('button', { type: 'button', id: 'close', ariaLabel: 'Close the call' }, 'Close');
  close.addEventListener('click', closeCall);
  const tools = make('span.tools', {}, close);
  const parts = [make('div.bar', {}, make('h2', { id: 'detail-title' }, call.called_as), make(`span.chip.${status.kind}`, {}, `${status.mark} ${statusText(call)}`), tools)];
  const decided = make('div', {}, make('p', {}, decision(call.decided)));
  if (call.decided.access) decided.append(make('p.quiet', {}, `because of: ${call.decided.access}`));
  parts.push(part('Decision', decided));
  if (call.left_out) {
    const how = `haft report ${quoted(report.run)} --call='${inQuotes(call.id)}'`;
    parts.push(part('Left out', make('p', {}, `${bytes(call.left_out)} of what it touches, its arguments, diff and output are not in this page, since the run is large. `,
      make('code', {}, how), ' makes a page of it.'), how));
  }
  const { accesses, accesses_omitted: omitted } = call;
  if (accesses && accesses.length) {
    const items = accesses.map((access) => make('li', {}, ...marked(access)));
    if (omitted) items.push(make('li.quiet', {}, `and ${grouped(omitted)} more`));
    parts.push(part('What it touches', make('ul.list', {}, ...items), accesses.join('\n')));
  } else if (accesses) parts.push(part('What it touches', make('p.quiet', {}, 'Nothing that it has to say.')));
  if (!call.left_out) parts.push(call.input ? part('Arguments', pre(call.input.text), call.input.text, cutNote(call.input)) : part('Arguments', make('p.quiet', {}, 'They are not kept.')));
  if (call.repairs) parts.push(part('Corrected in the arguments', make('ul.list', {}, ...call.repairs.map((repair) => make('li', {}, repair)))));
  if (call.diff) {
    const from = call.diff.from === 'changes' ? 'from the journal of changes' : '';
    parts.push(part('Diff', diff(call.diff.text), call.diff.text, [cutNote(call.diff), from].filter(Boolean).join('; ')));
  }
  if (!call.left_out) parts.push(outputPart(call));
  parts.push(timings(call));
  const child = report.runs.findIndex((run) => run.run === call.child_run);
  const ids = facts([['call', call.id], ['run', report.runs[call.run].run], ['turn', call.turn === undefined ? '' : String(call.turn)],
    ['tool', call.tool], ['from', call.origin], ['digest', call.digest], ['whole output', call.truncation?.output], ['started run', call.child_run]]);
  const box = make('div', {}, ids);
  if (child >= 0) {
    const show = make('button', { type: 'button' }, 'Show the calls of that run');
    show.addEventListener('click', () => filterRun(child));
    box.append(show);
  }
  parts.push(part('Names', box));
  return parts;
}

function showCall() {
  panel.replaceChildren(...detailOf(report.calls[state.chosen]));
  panel.scrollTop = 0;
}

/** Where there is room for the call alone, what it covers cannot be reached either. */
const covers = matchMedia('(max-width: 860px)');
function cover() {
  const covered = state.open && covers.matches;
  document.body.classList.toggle('covered', covered);
  for (const part of document.querySelectorAll('#head, #foot, main > section, #calls')) part.inert = covered;
}

function openCall() {
  if (state.chosen < 0) return;
  state.open = true;
  panel.hidden = false;
  byId('work').classList.add('open');
  cover();
  showCall();
  panel.focus({ preventScroll: true });
}

function closeCall() {
  state.open = false;
  panel.hidden = true;
  byId('work').classList.remove('open');
  cover();
  list.focus({ preventScroll: true });
}

function setUpDetail() {
  covers.addEventListener('change', cover);
  listeners.push((what) => {
    if (what !== 'chosen' || !state.open) return;
    if (state.chosen < 0) closeCall();
    else showCall();
  });
  panel.addEventListener('keydown', (event) => {
    // In the panel itself the arrows scroll; with Alt they go to the next call.
    if (event.altKey && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    }
  });
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || '');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      if (state.open && covers.matches) closeCall();
      byId('search').focus();
      byId('search').select();
    } else if (event.key === 'Escape') {
      if (state.open) closeCall();
      else if (document.activeElement === byId('search')) {
        if (byId('search').value) { byId('search').value = ''; list.scrollTop = 0; filter(); } else list.focus();
      }
    } else if (document.activeElement === byId('search') && (event.key === 'ArrowDown' || event.key === 'Enter')) {
      event.preventDefault();
      list.focus();
      if (state.chosen < 0) move(1);
    }
  });
}
