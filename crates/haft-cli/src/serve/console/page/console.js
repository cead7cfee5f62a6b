// Asks for the state again and again, each time as a whole: whatever was missed in between is in it.

const KEPT = 'haft-console';
/** The key of this page came behind the address, and stays with this tab and this origin. */
function takeKey() {
  if (location.hash.length > 1) {
    sessionStorage.setItem(KEPT, location.hash.slice(1));
    history.replaceState(null, '', '/');
  }
  return sessionStorage.getItem(KEPT) || '';
}
const key = takeKey();
const asked = (path, more = {}) => fetch(path, { cache: 'no-store', credentials: 'same-origin', redirect: 'error', referrerPolicy: 'no-referrer', ...more, headers: { 'x-haft-console': key, ...more.headers } });

/** Has something changed; gives whether it was, and what is said of it. */
async function change(path, body) {
  try {
    const response = await asked(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    if (response.status === 403) return { ok: false, said: 'this page is not let in any more; open the address that haft prints' };
    return { ok: response.ok, said: (await response.json()).said };
  } catch {
    return { ok: false, said: 'haft did not answer, so it is not known what became of it; look at what is shown' };
  }
}

function link(text, kind) {
  const chip = byId('link');
  if (chip.textContent === text) return;
  chip.textContent = text;
  chip.className = `chip ${kind}`;
}
function fault(text) {
  byId('trouble').hidden = !text;
  if (byId('trouble').textContent !== text) byId('trouble').textContent = text;
}

/** Shows the calls as they are now; which one is chosen, searched for and zoomed to stays so. */
function showReport(next) {
  if (!next) return;
  const nameOfCall = (call) => call && JSON.stringify([report.runs[call.run]?.run, call.id, call.at_us]);
  const was = report.calls[state.chosen];
  const [name, before] = [nameOfCall(was), was && JSON.stringify(was)];
  const focused = byId('tree').contains(document.activeElement) ? runButtons.indexOf(document.activeElement) : -1;
  report = next;
  state.chosen = name ? report.calls.findIndex((call) => nameOfCall(call) === name) : -1;
  totals();
  notes();
  agents();
  if (focused >= 0) runButtons[focused]?.focus({ preventScroll: true });
  countRows();
  filter();
  renewTimeline();
  if (state.open && state.chosen < 0) closeCall();
  else if (state.open && JSON.stringify(report.calls[state.chosen]) !== before) showCall();
  if (state.chosen >= 0) list.setAttribute('aria-activedescendant', `row-${state.chosen}`);
  byId('foot').textContent = `haft ${report.haft}; times are those of this browser's time zone. Arguments and outputs are not recorded.`;
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function follow() {
  let [seen, wait] = ['', 500];
  for (;;) {
    try {
      const response = await asked(`/live?seen=${seen}`, { signal: AbortSignal.timeout(45000) });
      if (response.status === 403) {
        link('not let in', 'bad');
        fault('This page is not let in. Open the address that haft printed where it was started: each one works once.');
        return;
      }
      const live = await response.json();
      if (!response.ok) throw new Error(live.said);
      fault('');
      link('live', 'good');
      wait = 500;
      if (live.version !== seen && live.waiting) {
        showWaiting(live);
        showLists(live);
        showReport(live.report);
      }
      seen = live.version;
      document.documentElement.dataset.seen = seen;
      await pause(300);
    } catch (error) {
      link('not connected', 'bad');
      fault(error instanceof TypeError || error.name === 'TimeoutError' ? 'haft does not answer; what is shown may be old. Trying again …' : error.message);
      await pause(wait);
      wait = Math.min(5000, wait * 2);
    }
  }
}

totals();
setUpDetail();
setUpTimeline();
setUpRows();
setInterval(() => { for (const card of cards.values()) showMeta(card, Date.now()); }, 5000);
document.documentElement.dataset.ready = 'yes';
follow();
