// Where a time is on the timeline. A stretch in which nothing changes, as while a person is thought of for hours, is drawn
// shorter than it was, so that what happened around it can be seen.

/** The calls whose time is known, in microseconds from the first, each with its place among those beside it. */
let [bars, lanes, drawnLanes] = [[], [], []];
/** The turns of models, likewise; those of a run are a row of their own above its calls. */
let turnBars = [];
/** How many calls that overlap are drawn below each other. Records are dated to the millisecond: so much is no overlap. */
const [MOST_ROWS, DATED] = [24, 1000];

/** Puts calls that overlap below each other, run by run. */
function placeBars() {
  bars = report.calls.flatMap((call, index) => (call.at_us && call.timings !== 'none' ? [{ index, call }] : []));
  const turns = report.turns || [];
  const first = bars.reduce((least, { call }) => Math.min(least, call.at_us), Infinity);
  const origin = turns.reduce((least, turn) => Math.min(least, turn.at_us), first);
  turnBars = turns.map((turn) => ({ turn, from: turn.at_us - origin, to: turn.at_us - origin + turn.took_us }));
  for (const bar of bars) {
    bar.from = bar.call.at_us - origin;
    bar.asks = bar.from + (bar.call.waited_us || 0);
    bar.runs = bar.asks + (bar.call.asked_us || 0);
    bar.to = Math.max(bar.from + (bar.call.took_us || 0), bar.runs + (bar.call.ran_us || 0));
  }
  bars.sort((one, other) => one.from - other.from || one.index - other.index);
  lanes = report.runs.map((_, run) => ({ run, rows: 0, ends: [], turns: 0 }));
  for (const { turn } of turnBars) lanes[turn.run].turns = 1;
  for (const bar of bars) {
    const lane = lanes[bar.call.run];
    let place = lane.ends.findIndex((end) => end <= bar.from + DATED);
    if (place < 0) place = lane.ends.length < MOST_ROWS ? lane.ends.length : MOST_ROWS - 1;
    lane.ends[place] = Math.max(bar.to, lane.ends[place] || 0);
    lane.rows = lane.ends.length;
    bar.row = place;
  }
  drawnLanes = lanes.filter((lane) => lane.rows + lane.turns > 0);
}

const scale = { times: [0], places: [0], breaks: [], even: false, shortens: false, whole: 1 };

function setScale(even) {
  const set = new Set([0]);
  for (const bar of bars) set.add(bar.from).add(bar.asks).add(bar.runs).add(bar.to);
  for (const bar of turnBars) set.add(bar.from).add(bar.to);
  const times = [...set].sort((one, other) => one - other);
  const whole = Math.max(1, times[times.length - 1]);
  // A twelfth of what remains when all long stretches are cut, but no less than half a second.
  const cutAt = (most) => times.reduce((sum, time, place) => sum + Math.min(most, place ? time - times[place - 1] : 0), 0);
  let most = whole;
  for (let round = 0; round < 6; round += 1) most = Math.max(5e5, cutAt(most) / 12);
  const gaps = times.map((time, place) => (place ? time - times[place - 1] : 0));
  scale.shortens = gaps.some((gap) => gap > most * 3);
  scale.even = even;
  scale.breaks = [];
  scale.times = times;
  let at = 0;
  scale.places = gaps.map((gap, place) => {
    const cut = !even && scale.shortens && gap > most * 3;
    if (cut) scale.breaks.push({ from: at, to: at + most, gap, time: times[place] });
    at += cut ? most : gap;
    return at;
  });
  scale.whole = Math.max(1, at);
}

/** Finds the last entry that is not above a value. */
function below(sorted, value) {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function between(from, to, value) {
  const at = Math.min(below(from, value), from.length - 2);
  if (at < 0) return 0;
  const width = from[at + 1] - from[at];
  return to[at] + (width > 0 ? (value - from[at]) / width : 0) * (to[at + 1] - to[at]);
}
const placeOf = (time) => between(scale.times, scale.places, time);
const timeOf = (place) => between(scale.places, scale.times, place);
