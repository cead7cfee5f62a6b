// The servers, what is held back of them, and what was answered for more than one call.

const shownLists = new Map();

/** Fills a list anew where it has changed, and keeps the focus on what has the same name in it. */
function fillList(id, items, made) {
  const text = JSON.stringify(items);
  if (shownLists.get(id) === text) return;
  shownLists.set(id, text);
  const list = byId(id);
  const held = list.contains(document.activeElement) ? document.activeElement.dataset.name : undefined;
  list.replaceChildren(...items.map(made));
  if (held === undefined) return;
  const again = [...list.querySelectorAll('button')].find((button) => button.dataset.name === held);
  (again || list.closest('section').querySelector('h2')).focus({ preventScroll: true });
}

/** Makes a button that has something changed, and says beside it what became of that. */
function act(text, label, name, path, body) {
  const button = make('button', { type: 'button', ariaLabel: label }, text);
  button.dataset.name = name;
  button.addEventListener('click', async () => {
    // A button that is disabled loses the focus, and one that worked goes away with its item.
    const title = button.closest('section').querySelector('h2');
    button.disabled = true;
    const { ok, said } = await change(path, body);
    say(said);
    if (!ok) {
      button.disabled = false;
      button.after(make('span.bad', { role: 'status' }, `✗ ${said}`));
    }
    if (document.activeElement === document.body) (ok ? title : button).focus({ preventScroll: true });
  });
  return button;
}

const SERVER_MARKS = { ready: ['✓', 'good'], degraded: ['?', 'asks'] };
function serverItem(server) {
  const [mark, kind] = SERVER_MARKS[server.state] || ['✗', 'bad'];
  return make('li', {}, make('strong', {}, server.name), make(`span.${kind}`, {}, `${mark} ${server.state}`), make('span.quiet', {}, counted(server.tools, 'tool')),
    server.reason ? make('span.quiet', {}, server.reason) : null);
}

function heldItem(held) {
  const name = `${held.server} / ${held.tool}`;
  const item = make('li', {}, make('span.asks', {}, '? held back'), make('strong', {}, name), make('span.quiet', {}, held.why));
  if (held.changes === null) {
    item.append(make('span.quiet', {}, `See it with haft mcp accept ${held.server} --json; it is too long to be shown here, or was read by another haft.`));
    return item;
  }
  item.append(act('Accept as shown', `Accept ${name} as it is shown`, held.digest, '/accept', { server: held.server, digest: held.digest }));
  item.append(diff(held.changes.replace(/\n$/, '')));
  return item;
}

function grantItem(grant) {
  if (grant.unreadable) return make('li', {}, make('span.bad', {}, `✗ cannot be read: ${grant.unreadable}`), act('Revoke', 'Revoke what cannot be read', grant.id, '/revoke', { id: grant.id }));
  const word = grant.never ? make('span.bad', {}, '⊘ never') : make('span.good', {}, '✓ allowed');
  return make('li', {}, word, make('code', {}, grant.rule), make('span.quiet', {}, `${grant.agent ? `for ${grant.agent}, ` : ''}${grant.place}, since ${day(grant.given_at_ms)}`),
    act('Revoke', `Revoke ${grant.rule}`, grant.id, '/revoke', { id: grant.id }));
}

function showLists(live) {
  byId('servers').hidden = !live.servers.length;
  fillList('server-list', live.servers, serverItem);
  fillList('held-list', live.held, heldItem);
  fillList('grant-list', live.grants, grantItem);
  // Where the focus is, something stays to be focused.
  byId('grants').hidden = !live.grants.length && !byId('grants').contains(document.activeElement);
}
