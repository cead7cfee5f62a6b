// The head of the page: what the run was, what it came to, and what is not known of it.

const ENDS = {
  completed: ['completed', 'good'], done: ['done', 'good'], cut_off: ['cut off', 'bad'], refused: ['refused', 'bad'],
  failed: ['failed', 'bad'], cancelled: ['cancelled', 'quiet'], budget_spent: ['budget spent', 'asks'], looping: ['looping', 'bad'],
  stopped: ['stopped', 'asks'], lost: ['lost', 'bad'], waiting: ['waiting for a person', 'asks'], running: ['not ended', 'asks'],
  queued: ['queued', 'asks'], served: ['served', 'quiet'], unknown: ['end not kept', 'quiet'], ended: ['ended', 'quiet'],
};
const MARKS = { good: '✓ ', bad: '✗ ', asks: '? ', quiet: '' };
function chip(run) {
  const [text, kind] = ENDS[run.end] || [run.end, 'quiet'];
  return make(`span.chip.${kind}`, { title: run.reason }, MARKS[kind] + text);
}

function facts(pairs) {
  const list = make('dl.facts');
  for (const [name, value] of pairs) {
    if (value === undefined || value === null || value === '') continue;
    list.append(make('div', {}, make('dt', {}, name), make('dd', {}, value)));
  }
  return list;
}

function head() {
  const run = report.runs[0];
  byId('head').replaceChildren();
  const took = run.ended_at_ms && run.started_at_ms ? spoken((run.ended_at_ms - run.started_at_ms) * 1000) : '';
  byId('head').append(make('h1', {}, run.run), chip(run));
  if (run.reason) byId('head').append(make('span.quiet', {}, run.reason));
  if (run.task) byId('head').append(make(`p.task${run.task.length > 400 ? '.long' : ''}`, run.task.length > 400 ? { tabIndex: 0 } : {}, run.task));
  byId('head').append(facts([
    ['what', run.model ? '' : run.does], ['model', run.model], ['agent', run.agent], ['begun', run.started_at_ms && day(run.started_at_ms)],
    ['took', took], ['turns', run.turns === undefined ? '' : grouped(run.turns)], ['in', run.workdir],
  ]));
  if (run.said) {
    const answer = make('details', {}, make('summary', {}, 'What the model said last'), make('p.task', {}, run.said));
    byId('head').append(answer);
  }
  document.title = `${run.run} – haft report`;
  byId('foot').textContent = `Made by haft ${report.haft} on ${day(report.made_at_ms)}; times are those of this browser's time zone.`;
}

function tile(value, name, kind, title) {
  return make('div.tile', { title }, make(kind ? `b.${kind}` : 'b', {}, value), make('span', {}, name));
}

function totals() {
  const { totals: all } = report;
  const box = byId('totals');
  box.replaceChildren();
  box.append(tile(grouped(all.calls), all.calls === 1 ? 'call' : 'calls'));
  box.append(tile(grouped(all.failed), 'failed', all.failed ? 'bad' : ''));
  box.append(tile(grouped(all.denied), 'denied', all.denied ? 'bad' : ''));
  box.append(tile(grouped(all.asked), 'asked about', all.asked ? 'asks' : ''));
  if (all.open) box.append(tile(grouped(all.open), 'not answered', 'asks'));
  box.append(tile(spoken(all.waited_us), 'waiting', '', 'For calls before it, or for room'));
  box.append(tile(spoken(all.asked_us), 'asking', '', 'While a person was asked whether a call may run'));
  box.append(tile(spoken(all.ran_us), 'running', '', 'Of all calls together, also of those that ran at the same time'));
  if (all.usage) {
    const { input, output, cache_read: cached } = all.usage;
    box.append(tile(rounded(input), 'tokens read', '', `${grouped(input)}${cached ? `, ${grouped(cached)} of them from the cache` : ''}`));
    box.append(tile(rounded(output), 'tokens written', '', grouped(output)));
  }
  if (all.cost_nanos !== undefined) box.append(tile(MONEY(all.cost_nanos), 'cost', '', 'In what its price was given in'));
  for (const budget of report.runs[0]?.budgets || []) {
    const text = `${amount(budget.kind, budget.spent)} of ${amount(budget.kind, budget.limit)}`;
    const name = BUDGETS[budget.kind] || budget.kind;
    const full = budget.limit > 0 ? budget.spent / budget.limit : 1;
    const meter = make('meter', { min: 0, max: 1, value: Math.min(1, full), ariaLabel: `${name}: ${text}` });
    [meter.low, meter.high, meter.optimum] = [0.75, 0.95, 0];
    const of = make('div.tile.budget', {}, make('b', {}, text), make('span', {}, `budget of ${name}${full >= 1 ? ' – spent' : ''}`), meter);
    box.append(of);
  }
}

function notes() {
  byId('notes').hidden = !report.notes.length;
  const list = make('ul');
  for (const note of report.notes) list.append(make('li', {}, note));
  byId('notes').replaceChildren(list);
}

/** How many turns are listed; a run has more than anybody reads. */
const MOST_TURNS = 500;

const turnText = (turn) => `turn ${turn.turn}${turn.error ? ` – ${turn.error.replaceAll('_', ' ')}` : ''}`;

/** Says what a turn cost, as far as that is known. */
function costs({ usage, cost_nanos: cost }) {
  const read = usage && `${grouped(usage.input)} tokens read${usage.cache_read ? `, ${grouped(usage.cache_read)} of them from the cache` : ''}`;
  return [read, usage && `${grouped(usage.output)} written`, cost && `cost ${MONEY(cost)}`].filter(Boolean);
}

/** The turns as a table, which says what the timeline draws of them. */
function turns() {
  const all = report.turns || [];
  byId('turns').hidden = !all.length;
  if (!all.length) return;
  const several = report.runs.length > 1;
  const names = ['Turn', ...(several ? ['Run'] : []), 'Model', 'Asked', 'Took', 'Read', 'Cached', 'Written', 'Cost'];
  const rows = all.slice(0, MOST_TURNS).map((turn) => {
    const { usage, cost_nanos: cost } = turn;
    const count = (tokens) => (usage && tokens ? grouped(tokens) : '');
    const cells = [turn.error ? make('b.bad', {}, `✗ ${turnText(turn)}`) : turnText(turn), ...(several ? [nameOf(turn.run)] : []), turn.model,
      clock(turn.at_us / 1000), spoken(turn.took_us), count(usage?.input), count(usage?.cache_read), count(usage?.output), cost ? MONEY(cost) : ''];
    return make('tr', {}, ...cells.map((cell) => make('td', {}, cell)));
  });
  const head = make('tr', {}, ...names.map((name) => make('th', { scope: 'col' }, name)));
  const more = all.length - rows.length;
  byId('turns').replaceChildren(make('summary', {}, `${counted(all.length, 'turn')} of ${several ? 'models' : 'the model'}`),
    make('div.table', { tabIndex: 0, role: 'region', ariaLabel: 'Turns' }, make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows))),
    more ? make('p.quiet', {}, `and ${grouped(more)} more, which haft report --json has`) : '');
}

let runButtons = [];
function pressRun() { runButtons.forEach((button, index) => button.setAttribute('aria-pressed', String(state.run === index))); }
listeners.push((what) => { if (what === 'filter') pressRun(); });

/** The runs as a tree; each is a button that shows its calls alone. */
function agents() {
  byId('agents').hidden = report.runs.length < 2;
  byId('tree').replaceChildren();
  runButtons = [];
  if (report.runs.length < 2) return;
  const count = new Array(report.runs.length).fill(0);
  for (const call of report.calls) count[call.run] += 1;
  // Runs that name each other as whoever started them stand there once.
  const seen = new Set();
  const branch = (index) => {
    seen.add(index);
    const run = report.runs[index];
    const button = make('button', { type: 'button', ariaPressed: 'false' },
      make('strong', {}, nameOf(index)), ' ', chip(run), ` ${counted(count[index], 'call')} `, make('span.does', {}, run.task || run.does || ''));
    button.addEventListener('click', () => filterRun(state.run === index ? -1 : index));
    runButtons[index] = button;
    const item = make('li', {}, button);
    const below = report.runs.flatMap((other, place) => (other.parent === run.run && place !== index ? [place] : []));
    const under = below.flatMap((place) => (seen.has(place) ? [] : [branch(place)]));
    if (under.length) item.append(make('ul', {}, ...under));
    return item;
  };
  const known = new Set(report.runs.map((run) => run.run));
  const tops = report.runs.flatMap((run, index) => (index === 0 || !known.has(run.parent) ? [index] : []));
  byId('tree').append(...tops.map(branch));
  report.runs.forEach((run, index) => { if (!seen.has(index)) byId('tree').append(branch(index)); });
  pressRun();
}
