// The calls that wait. What tools and models wrote is put on the page with `textContent` alone.

const cards = new Map();
const TERMS = [['', 'this call only'], ['run', 'until its run ends'], ['session', 'for its session'], ['workspace', 'in this directory']];

/** Writes how long ago a time was. */
const ago = (ms, now) => `${spoken(Math.max(0, Math.round((now - ms) / 1000)) * 1e6).replace(/\.\d+ s$/, ' s').replace('0 µs', '0 s')} ago`;
const who = (call) => call.by || 'a client';

function previewOf(call) {
  const { kind, text } = call.preview;
  if (kind === 'diff') return diff(text.text.replace(/\n$/, ''));
  const shown = kind === 'arguments' ? call.input.text : kind === 'command' ? text.text.replace(/^/gm, '$ ') : text.text;
  return make('pre', { tabIndex: 0 }, shown);
}

function accessesOf(call) {
  const list = make('ul.accesses.list');
  for (const { access, reason } of call.accesses) list.append(make('li', {}, make('code', {}, access), make('span.quiet', {}, ` – ${reason}`)));
  if (call.accesses_omitted) list.append(make('li.quiet', {}, `and ${grouped(call.accesses_omitted)} more`));
  return list;
}

function labelled(text, field, kind = '') {
  return make(`label${kind}`, {}, make('span', {}, text), field);
}

/** Makes what a person answers a call with. */
function choicesOf(call, decide) {
  const title = `${call.tool} of ${who(call)}`;
  const term = make('select');
  for (const [value, text] of TERMS) if (!value || call.can_be_remembered) term.append(make('option', { value }, text));
  const reason = make('input', { type: 'text', maxLength: 500, autocomplete: 'off' });
  const never = make('input', { type: 'checkbox' });
  const yes = make('button.yes', { type: 'button', ariaLabel: `Approve ${title}` }, '✓ Approve');
  const no = make('button.no', { type: 'button', ariaLabel: `Deny ${title}` }, '✗ Deny');
  yes.addEventListener('click', () => decide({ answer: 'approve', term: term.value || undefined }));
  no.addEventListener('click', () => decide({ answer: 'deny', reason: reason.value, never: never.checked }));
  const box = make('fieldset.choices', {}, make('legend.sr', {}, `Answer ${title}`));
  if (!call.sign_in) box.append(labelled('Approve for', term), make('span.end', {}, yes));
  box.append(labelled('Reason, for the model', reason, '.grow'));
  if (call.can_be_never) box.append(make('label.check', {}, never, make('span', {}, 'and never here')));
  box.append(make('span.end', {}, no));
  if (call.edit === null) return [box];
  const text = make('textarea', { value: call.edit, spellcheck: false });
  const send = make('button.yes', { type: 'button', ariaLabel: `Approve ${title} with these arguments` }, '✓ Approve with these arguments');
  send.addEventListener('click', () => decide({ answer: 'edit', input: text.value }));
  const edited = make('fieldset.choices', { hidden: true }, make('legend.sr', {}, `Other arguments for ${title}`),
    labelled('Arguments, as JSON', text, '.grow'), make('span.end', {}, send));
  const edit = make('button', { type: 'button', ariaExpanded: 'false', ariaLabel: `Edit the arguments of ${title}` }, 'Edit …');
  edit.addEventListener('click', () => {
    edited.hidden = !edited.hidden;
    edit.setAttribute('aria-expanded', String(!edited.hidden));
    if (!edited.hidden) text.focus();
  });
  box.append(make('span.end', {}, edit));
  return [box, edited];
}

function cardOf(call) {
  const heading = make('h3', { tabIndex: -1 }, call.unreadable ? `A call that cannot be read` : `${call.tool} `);
  const meta = make('p.meta');
  const verdict = make('p.verdict');
  const parts = [heading, meta];
  const card = { call, meta, verdict, heading, fields: [] };
  if (call.unreadable) parts.push(make('p', {}, call.unreadable), make('p.quiet', {}, `haft approvals deny ${call.id}`));
  else {
    if (call.again) parts.push(make('p.again', {}, `Asked again: ${call.again}.`));
    if (call.sign_in) parts.push(make('p', {}, 'It needs you to log in at ', make('code', {}, call.sign_in), ', and then to have the call repeated.'));
    parts.push(accessesOf(call), previewOf(call));
    for (const note of call.repairs) parts.push(make('p.quiet', {}, `changed in the arguments: ${note}`));
    if (call.preview.text.omitted || (call.preview.kind === 'arguments' && call.input.omitted)) parts.push(make('p.bad', {}, `It is too long to be shown whole here: see all of it with haft approvals show ${call.short}`));
    if (call.holds_secret) parts.push(make('p.quiet', {}, `Its arguments hold a secret, which is not shown: change them with haft approvals edit ${call.short}`));
    card.fields = choicesOf(call, (says) => decideOn(card, says));
    parts.push(...card.fields);
  }
  parts.push(verdict);
  card.element = make('li.card', { id: `card-${cardNumber += 1}` }, ...parts);
  return card;
}
let cardNumber = 0;

/** Sends an answer to exactly what is shown, and says what became of it. */
async function decideOn(card, says) {
  for (const box of card.fields) box.disabled = true;
  const { id, digest } = card.call;
  const { ok, said } = await change('/answer', { id, digest, ...says });
  card.verdict.textContent = `${ok ? '✓' : '✗'} ${said}`;
  card.verdict.className = `verdict ${ok ? 'good' : 'bad'}`;
  say(said);
  if (!ok && cards.has(id)) for (const box of card.fields) box.disabled = false;
  if (document.activeElement === document.body) card.heading.focus();
}

function showMeta(card, now) {
  const { call } = card;
  if (call.unreadable) return;
  const expires = call.expires_at_ms ? (call.expired ? ', has expired' : `, expires in ${spoken(Math.max(0, call.expires_at_ms - now) * 1000)}`) : '';
  card.meta.textContent = `asked by ${who(call)}, ${ago(call.asked_at_ms, now)}${expires}${call.in ? `, in ${call.in}` : ''}`;
}

/** Shows the calls that wait now: those that were shown stay as they are, with what is being written in them. */
function showWaiting(live) {
  const known = new Set(live.waiting.map((call) => call.id));
  const fresh = live.waiting.filter((call) => !cards.has(call.id));
  for (const [id, card] of cards) {
    if (known.has(id)) continue;
    cards.delete(id);
    if (card.element.contains(document.activeElement)) {
      const next = card.element.nextElementSibling || card.element.previousElementSibling;
      (next?.querySelector('h3') || byId('waiting-title')).focus({ preventScroll: true });
    }
    if (card.verdict.textContent) lastVerdict = `${card.call.tool}: ${card.verdict.textContent}`;
    card.element.remove();
  }
  for (const call of live.waiting) {
    if (!cards.has(call.id)) {
      const card = cardOf(call);
      cards.set(call.id, card);
      byId('cards').append(card.element);
    }
    const card = cards.get(call.id);
    card.call = { ...card.call, answered: call.answered, expired: call.expired };
    showMeta(card, live.now_ms);
    if (call.answered && !card.verdict.textContent) {
      card.verdict.textContent = `${call.answered}; it goes on when its client repeats it`;
      card.verdict.className = 'verdict quiet';
      for (const box of card.fields) box.disabled = true;
    }
  }
  const open = live.waiting.filter((call) => !call.answered).length;
  byId('waiting-count').textContent = open ? counted(open, 'call') + (live.waiting_omitted ? `, and ${grouped(live.waiting_omitted)} more that \`haft approvals\` has` : '') : lastVerdict;
  byId('none-waits').hidden = live.waiting.length > 0;
  document.title = open ? `(${open}) haft console` : 'haft console';
  const asked = fresh.filter((call) => !call.answered);
  if (asked.length) say(`${counted(asked.length, 'call')} ${asked.length === 1 ? 'waits' : 'wait'} for you: ${asked.slice(0, 3).map((call) => `${call.tool} of ${who(call)}`).join(', ')}`);
}
let lastVerdict = '';
