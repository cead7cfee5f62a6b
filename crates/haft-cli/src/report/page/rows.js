// The list of calls. Only the rows that can be seen are on the page, so that thousands cost as little as a few.

const list = byId('rows');
const narrow = matchMedia('(max-width: 560px)');
const rowHeight = () => (narrow.matches ? 54 : 34);
let longest = 1;
const made = new Map();

function row(place) {
  const index = state.shown[place];
  const call = report.calls[index];
  const status = statusOf(call);
  const about = make('span.about', {}, call.status === 'ok' ? '' : make(`b.${status.kind}`, {}, `${statusText(call)} `), call.about || (call.accesses || []).join(', '));
  const element = make('div.row', { id: `row-${index}`, role: 'option' },
    make(`span.${status.kind}`, { ariaHidden: 'true' }, status.mark), make('span.name', {}, call.called_as), about,
    make('span.who', {}, report.runs.length > 1 ? nameOf(call.run) : ''), mini(call), make('span.took', {}, spoken(call.took_us)));
  element.setAttribute('aria-label', `${call.called_as}, ${statusText(call)}, ${spoken(call.took_us)}, ${call.about || ''}`);
  element.setAttribute('aria-setsize', state.shown.length);
  element.setAttribute('aria-posinset', place + 1);
  element.setAttribute('aria-selected', String(index === state.chosen));
  element.style.top = `${place * rowHeight()}px`;
  element.addEventListener('click', () => { choose(index); openCall(); });
  return element;
}

/** Draws what the time of a call was; its length tells how long it took, on a logarithmic scale. */
function mini(call, scaled = true) {
  const box = make(`span.mini${statusOf(call).kind === 'bad' ? '.failed' : ''}`, { ariaHidden: 'true' });
  const took = call.took_us || 0;
  if (!took || call.timings === 'none') return box;
  const width = scaled ? 100 * Math.log1p(took) / Math.log1p(longest) : 100;
  for (const [name, us] of [['waited', call.waited_us], ['asked', call.asked_us], ['ran', call.ran_us]]) {
    if (!us) continue;
    const part = make(`i.${name}`);
    part.style.width = `${width * us / took}%`;
    box.append(part);
  }
  return box;
}

function drawRows() {
  const height = rowHeight();
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 6);
  const last = Math.min(state.shown.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + 6);
  for (const [place, element] of made) {
    if (place < first || place >= last) { element.remove(); made.delete(place); }
  }
  for (let place = first; place < last; place += 1) {
    if (made.has(place)) continue;
    const element = row(place);
    made.set(place, element);
    list.append(element);
  }
}

function redrawRows() {
  for (const element of made.values()) element.remove();
  made.clear();
  list.querySelector('.none')?.remove();
  // No higher than all calls need, and as high for a few of them, so that nothing moves when they are searched.
  list.style.maxHeight = `${Math.max(3, report.calls.length) * rowHeight() + 2}px`;
  byId('rows-height').style.height = `${state.shown.length * rowHeight()}px`;
  if (!state.shown.length) list.append(make('p.none', {}, report.calls.length ? 'No call fits.' : 'No call is recorded.'));
  drawRows();
}

function choose(index) {
  if (index === state.chosen) return;
  state.chosen = index;
  const place = state.shown.indexOf(index);
  if (place >= 0) {
    const [height, top] = [rowHeight(), place * rowHeight()];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + height > list.scrollTop + list.clientHeight) list.scrollTop = top + height - list.clientHeight;
    drawRows();
    list.setAttribute('aria-activedescendant', `row-${index}`);
  }
  for (const [at, element] of made) element.setAttribute('aria-selected', String(state.shown[at] === index));
  changed('chosen');
}

/** Goes so many calls on in the list; from none to the first or the last. */
function move(by) {
  if (!state.shown.length) return;
  const place = state.shown.indexOf(state.chosen);
  const to = place < 0 ? (by > 0 ? 0 : state.shown.length - 1) : place + by;
  choose(state.shown[Math.max(0, Math.min(state.shown.length - 1, to))]);
}

function moveKeys(event) {
  const page = Math.max(1, Math.floor(list.clientHeight / rowHeight()) - 1);
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -report.calls.length, End: report.calls.length }[event.key];
  if (by !== undefined) { event.preventDefault(); move(by); }
  else if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    if (state.chosen < 0) move(1);
    openCall();
  }
}

// The words of all calls are put together when they are searched first.
let hay = null;
function hayOf() {
  hay ||= report.calls.map((call) => [call.called_as, call.tool, call.id, call.about, statusText(call), call.input?.text, call.output?.text,
    call.diff?.text, (call.accesses || []).join('\n'), decision(call.decided), nameOf(call.run)].join('\n').toLowerCase());
  return hay;
}

function filter(event) {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const [status, tool, run] = [byId('by-status').value, byId('by-tool').value, byId('by-run').value];
  const texts = words.length ? hayOf() : null;
  const fits = (call, index) => (status === '' || (status === 'asked' ? call.asked : call.status === status))
    && (tool === '' || call.called_as === tool) && (run === '' || call.run === Number(run))
    && words.every((word) => texts[index].includes(word));
  state.shown = report.calls.flatMap((call, index) => (fits(call, index) ? [index] : []));
  state.words = words;
  state.run = run === '' ? -1 : Number(run);
  const all = state.shown.length === report.calls.length;
  const without = words.length && report.calls.filter((call) => call.left_out).length;
  const unread = without ? `; what ${counted(without, 'call')} ${without === 1 ? 'is' : 'are'} about is left out, and not searched` : '';
  byId('count').textContent = (all ? counted(report.calls.length, 'call') : `${grouped(state.shown.length)} of ${counted(report.calls.length, 'call')}`) + unread;
  if (event) list.scrollTop = 0;
  redrawRows();
  if (state.chosen >= 0 && !state.shown.includes(state.chosen)) choose(-1);
  changed('filter');
}

function filterRun(index) {
  byId('by-run').value = index < 0 ? '' : String(index);
  list.scrollTop = 0;
  filter();
}

/** Fills a filter with what there is, and how often; what was chosen stays so. */
function choices(id, name, values, text) {
  const chosen = byId(id).value;
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  const options = [...counts].map(([value, count]) => make('option', { value }, `${text(value)} (${grouped(count)})`));
  byId(id).replaceChildren(make('option', { value: '' }, name), ...options);
  byId(id).value = chosen;
  if (byId(id).selectedIndex < 0) byId(id).value = '';
  byId(id).parentElement.hidden = counts.size < 2;
}

function countRows() {
  longest = report.calls.reduce((most, call) => Math.max(most, call.took_us || 0), 1);
  hay = null;
  const asked = report.calls.filter((call) => call.asked).length;
  const isAsked = byId('by-status').value === 'asked';
  choices('by-status', 'Any status', report.calls.map((call) => call.status), (status) => (STATUS[status] || { text: status }).text);
  if (asked) {
    byId('by-status').append(make('option', { value: 'asked' }, `asked about (${grouped(asked)})`));
    byId('by-status').parentElement.hidden = false;
    if (isAsked) byId('by-status').value = 'asked';
  }
  choices('by-tool', 'Any tool', report.calls.map((call) => call.called_as).sort(), (tool) => tool);
  choices('by-run', 'Any run', report.calls.map((call) => call.run).sort((a, b) => a - b), nameOf);
}

function setUpRows() {
  countRows();
  for (const id of ['by-status', 'by-tool', 'by-run']) byId(id).addEventListener('change', filter);
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  byId('search').addEventListener('input', filter);
  list.addEventListener('scroll', drawRows, { passive: true });
  list.addEventListener('keydown', moveKeys);
  narrow.addEventListener('change', redrawRows);
  new ResizeObserver(drawRows).observe(list);
  filter();
}
