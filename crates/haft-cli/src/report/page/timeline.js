// The timeline: a lane for each run, in which each call is a bar of three parts, below a row of the turns of its model. What it
// shows is in the list of calls and in that of turns, too.

const [chart, box, tip] = [byId('chart'), byId('lanes'), byId('tip')];
const [AXIS, LABEL, ROW, GAP] = [22, 18, 13, 7];
const view = { from: 0, to: 1 };
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  colours = Object.fromEntries(['panel', 'ink', 'quiet', 'line', 'soft', 'accent', 'bad', 'asks', 'waits', 'turns', 'focus'].map((name) => [name, value(`--${name}`)]));
  const tile = make('canvas', { width: 6, height: 6 });
  const pen = tile.getContext('2d');
  pen.strokeStyle = colours.asks;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) { pen.moveTo(shift, 6); pen.lineTo(shift + 6, 0); }
  pen.stroke();
  colours.stripes = chart.getContext('2d').createPattern(tile, 'repeat');
}

let wholeHeight = 0;
function placeLanes() {
  let top = AXIS;
  for (const lane of drawnLanes) {
    lane.top = top + (drawnLanes.length > 1 ? LABEL : 2);
    // The first row is that of the turns.
    lane.calls = lane.top + lane.turns * ROW;
    top = lane.calls + lane.rows * ROW + GAP;
  }
  wholeHeight = top;
}

const xOf = (time, width) => ((placeOf(time) - view.from) / (view.to - view.from)) * width;

function draw() {
  const width = box.clientWidth;
  const height = Math.min(wholeHeight, box.clientHeight || wholeHeight);
  const ratio = window.devicePixelRatio || 1;
  [chart.width, chart.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  [chart.style.width, chart.style.height] = [`${width}px`, `${height}px`];
  byId('lanes-height').style.height = `${Math.max(0, wholeHeight - height)}px`;
  const pen = chart.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  pen.textBaseline = 'middle';
  pen.clearRect(0, 0, width, height);
  pen.save();
  pen.translate(0, -box.scrollTop);
  drawBreaks(pen, width);
  for (const lane of drawnLanes) {
    if (drawnLanes.length < 2) continue;
    pen.fillStyle = colours.line;
    pen.fillRect(0, lane.top - LABEL - 1, width, 1);
    pen.fillStyle = state.run === lane.run ? colours.accent : colours.quiet;
    pen.fillText(nameOf(lane.run), 4, lane.top - LABEL / 2, width - 8);
  }
  const shown = state.shown.length === report.calls.length ? null : new Set(state.shown);
  // What failed, and what is chosen, is not covered by what is beside it.
  const over = (bar) => statusOf(bar.call).kind === 'bad' || bar.index === state.chosen;
  for (const bar of turnBars) drawTurn(pen, bar, width);
  for (const bar of bars) if (!over(bar)) drawBar(pen, bar, width, shown && !shown.has(bar.index));
  for (const bar of bars) if (over(bar)) drawBar(pen, bar, width, shown && !shown.has(bar.index));
  pen.restore();
  drawAxis(pen, width);
}

function drawBreaks(pen, width) {
  for (const gap of scale.breaks) {
    const [from, to] = [gap.from, gap.to].map((place) => ((place - view.from) / (view.to - view.from)) * width);
    if (to < 0 || from > width) continue;
    pen.fillStyle = colours.soft;
    pen.fillRect(from, AXIS, to - from, wholeHeight);
    const text = `≈ ${spoken(gap.gap)}`;
    if (pen.measureText(text).width > to - from - 6) continue;
    pen.fillStyle = colours.quiet;
    pen.fillText(text, from + (to - from - pen.measureText(text).width) / 2, AXIS + LABEL / 2);
  }
}

function drawBar(pen, bar, width, faint) {
  const [from, asks, runs, to] = [bar.from, bar.asks, bar.runs, bar.to].map((time) => xOf(time, width));
  if (to < -2 || from > width + 2) return;
  const lane = lanes[bar.call.run];
  const y = lane.calls + bar.row * ROW;
  const kind = statusOf(bar.call).kind;
  pen.globalAlpha = faint ? 0.18 : 1;
  if (asks - from > 0.3) {
    pen.fillStyle = colours.waits;
    pen.fillRect(from, y + 4, asks - from, 3);
  }
  if (runs - asks > 0.3) {
    pen.fillStyle = colours.stripes;
    pen.fillRect(asks, y + 1, runs - asks, 9);
    pen.strokeStyle = colours.asks;
    pen.strokeRect(asks + 0.5, y + 1.5, Math.max(0, runs - asks - 1), 8);
  }
  pen.fillStyle = kind === 'bad' ? colours.bad : colours.accent;
  const long = Math.max(to - runs - 0.5, kind === 'bad' ? 2 : 1);
  pen.fillRect(runs, y, long, ROW - 2);
  if (kind === 'bad') {
    // A cross above or in the bar: colour is not the only sign.
    pen.strokeStyle = long > 12 ? colours.panel : colours.bad;
    drawCross(pen, Math.min(long > 12 ? runs + 6 : runs + long + 5, width - 5), y + (ROW - 2) / 2);
  }
  if (bar.index === state.chosen) {
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    pen.strokeRect(from - 2, y - 2, Math.max(to, runs + long) - from + 4, ROW + 2);
    pen.lineWidth = 1;
  }
  pen.globalAlpha = 1;
}

/** Draws a turn as an outline, so that it is told from a call without its colour; one that came to nothing has a cross. */
function drawTurn(pen, bar, width) {
  const [from, to] = [xOf(bar.from, width), xOf(bar.to, width)];
  if (to < -2 || from > width + 2) return;
  const y = lanes[bar.turn.run].top;
  const failed = bar.turn.error !== undefined;
  pen.globalAlpha = state.run >= 0 && state.run !== bar.turn.run ? 0.18 : 1;
  pen.strokeStyle = failed ? colours.bad : colours.turns;
  const long = Math.max(to - from - 1.5, 1);
  pen.strokeRect(from + 0.5, y + 2.5, long, ROW - 7);
  if (long > 6) {
    pen.fillStyle = failed ? colours.bad : colours.turns;
    pen.globalAlpha *= 0.25;
    pen.fillRect(from + 1, y + 3, long - 1, ROW - 8);
    pen.globalAlpha = 1;
  }
  if (failed) drawCross(pen, Math.min(from + long + 5, width - 5), y + (ROW - 2) / 2);
  pen.globalAlpha = 1;
}

function drawCross(pen, x, middle) {
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x - 3, middle - 3); pen.lineTo(x + 3, middle + 3);
  pen.moveTo(x + 3, middle - 3); pen.lineTo(x - 3, middle + 3);
  pen.stroke();
  pen.lineWidth = 1;
}

/** Writes a time since the first call, as finely as the ticks are apart. */
function stamp(us, fine) {
  if (us < 1e6 && fine < 1e6) return `+${spoken(us)}`;
  const seconds = us / 1e6;
  const rest = (seconds % 60).toFixed(fine < 1e4 ? 3 : fine < 1e6 ? 1 : 0);
  if (seconds < 60) return `+${rest} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const tail = rest.replace(/^\d(?!\d)/, '0$&');
  return hours ? `+${hours}:${two(minutes)}:${tail}` : `+${minutes}:${tail}`;
}

function drawAxis(pen, width) {
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, width, AXIS - 2);
  pen.fillStyle = colours.quiet;
  const fine = ((view.to - view.from) / Math.max(1, width)) * 90;
  let free = 0;
  for (let x = 0; x <= width; x += 8) {
    if (x < free) continue;
    const text = stamp(timeOf(view.from + (x / width) * (view.to - view.from)), fine);
    const long = pen.measureText(text).width;
    if (x + long > width) break;
    pen.fillRect(x, AXIS - 6, 1, 4);
    pen.fillText(text, x + 3, 8);
    free = x + Math.max(90, long + 30);
  }
  for (const gap of scale.breaks) {
    const x = (((gap.from + gap.to) / 2 - view.from) / (view.to - view.from)) * width;
    if (x < 0 || x > width) continue;
    pen.fillStyle = colours.asks;
    pen.fillText('≈', x - 4, AXIS - 4);
  }
}

/** The bar at a place, or the nearest one in its row within a few pixels: of a call, or of a turn. */
function barAt(event) {
  const bounds = chart.getBoundingClientRect();
  const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top + box.scrollTop];
  let best = null;
  for (const bar of [bars, turnBars].flat()) {
    const top = bar.turn ? lanes[bar.turn.run].top : lanes[bar.call.run].calls + bar.row * ROW;
    if (y < top - 1 || y > top + ROW) continue;
    const [from, to] = [xOf(bar.from, bounds.width), xOf(bar.to, bounds.width)];
    const away = Math.max(0, from - x, x - to);
    if (away <= 5 && (!best || away < best.away)) best = { bar, away };
  }
  return best?.bar;
}

/** Shows a part of the whole; at most all of it, and at least ten microseconds. */
function show(from, to) {
  const wide = Math.min(scale.whole, Math.max(10, to - from));
  view.from = Math.max(0, Math.min(from, scale.whole - wide));
  view.to = view.from + wide;
  draw();
}
function zoom(by, at = 0.5) {
  const [wide, middle] = [view.to - view.from, view.from + (view.to - view.from) * at];
  show(middle - wide * by * at, middle + wide * by * (1 - at));
}
function reveal(index) {
  const bar = bars.find((one) => one.index === index);
  if (!bar) return;
  const [from, to] = [placeOf(bar.from), placeOf(bar.to)];
  const wide = view.to - view.from;
  if (from < view.from || to > view.to) show(from - wide * 0.2, from + wide * 0.8);
  const top = lanes[bar.call.run].calls + bar.row * ROW;
  if (top - AXIS < box.scrollTop) box.scrollTop = top - AXIS - LABEL;
  else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW + GAP - box.clientHeight;
}

function point(event) {
  const bar = barAt(event);
  tip.hidden = !bar;
  if (!bar) return;
  const { call, turn } = bar;
  const run = report.runs.length > 1 ? `\n${nameOf((call || turn).run)}` : '';
  if (turn) tip.textContent = `${turnText(turn)}, ${spoken(turn.took_us)}${run}\n${[turn.model, ...costs(turn)].join(', ')}`;
  else tip.textContent = `${call.called_as} – ${statusText(call)}, ${spoken(call.took_us)}${run}${call.about ? `\n${call.about}` : ''}`;
  tip.style.left = `${Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

function rescale(even) {
  setScale(even);
  byId('even').setAttribute('aria-pressed', String(even));
  byId('even').hidden = !scale.shortens;
}

/** Draws the calls of the report as it is now; what was zoomed to stays in sight. */
function renewTimeline() {
  const whole = view.from === 0 && view.to >= scale.whole;
  const seen = [timeOf(view.from), timeOf(view.to)];
  placeBars();
  byId('time').hidden = !bars.length && !turnBars.length;
  for (const mark of document.querySelectorAll('.legend .of-turns')) mark.hidden = !turnBars.length;
  if (byId('time').hidden) return;
  box.setAttribute('aria-label', `Timeline of ${counted(bars.length, 'call')}${turnBars.length ? ` and ${counted(turnBars.length, 'turn')}` : ''} in ${counted(drawnLanes.length, 'run')}; left and right choose a call, Enter opens it. The list below has the same calls.`);
  placeLanes();
  // The height of the box follows from that of all lanes, as far as there is room.
  byId('lanes-height').style.height = `${wholeHeight}px`;
  rescale(scale.even);
  if (whole) show(0, scale.whole);
  else show(placeOf(seen[0]), placeOf(seen[1]));
}

function setUpTimeline() {
  readColours();
  renewTimeline();
  byId('even').addEventListener('click', () => { rescale(!scale.even); show(0, scale.whole); });
  byId('zoom-in').addEventListener('click', () => zoom(0.5));
  byId('zoom-out').addEventListener('click', () => zoom(2));
  byId('zoom-all').addEventListener('click', () => show(0, scale.whole));
  box.addEventListener('scroll', draw, { passive: true });
  box.addEventListener('pointermove', point);
  box.addEventListener('pointerleave', () => { tip.hidden = true; });
  box.addEventListener('click', (event) => { const bar = barAt(event); if (bar?.call) { choose(bar.index); openCall(); } });
  box.addEventListener('wheel', (event) => {
    const wide = view.to - view.from;
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX / Math.max(1, box.clientWidth));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = ((event.deltaX || event.deltaY) / box.clientWidth) * wide;
      show(view.from + by, view.to + by);
    } else return;
    event.preventDefault();
  }, { passive: false });
  box.addEventListener('keydown', (event) => {
    const to = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (to !== undefined) move(to);
    else if (event.key === 'Enter') openCall();
    else if (event.key === '+') zoom(0.5);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0') show(0, scale.whole);
    else return;
    event.preventDefault();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); draw(); });
  new ResizeObserver(draw).observe(box);
  listeners.push((what) => { if (what === 'chosen') reveal(state.chosen); draw(); });
}
