import { showTrouble } from './announce.js';
import { BlockedKeys } from './blocked-keys.js';
import { DeadLetters } from './dead-letters.js';
import { el, setText } from './dom.js';
import { count } from './format.js';
import { Inbox } from './inbox.js';
import { Operations } from './operations.js';
import { Overview } from './overview.js';
import { Replay } from './replay.js';
import { state } from './state.js';

const EVERY_MS = 5000;
const SECTIONS = {
  'dead-letters': DeadLetters,
  'blocked-aggregates': BlockedKeys,
  replay: Replay,
  inbox: Inbox,
  changes: Operations,
};

const overview = new Overview(afterChange);
const nav = document.getElementById('sections');
const place = document.getElementById('section');
const freshness = document.getElementById('freshness');
const links = new Map();
let shown;

await look();
drawNavigation();
addEventListener('hashchange', () => open(true));
await open(false);
document.body.dataset.ready = 'true';
keepLooking();

async function look() {
  try {
    await overview.refresh();
    showTrouble();
    setText(freshness, `as of ${new Date(state.at).toLocaleTimeString('en-GB')}`);
    for (const [name, { badge }] of links) if (name === 'dead-letters') setText(badge, deadCount());
    shown?.tick?.();
  } catch (error) {
    showTrouble(
      `${error.message} What you see is ${state.at === undefined ? 'nothing yet' : `as of ${new Date(state.at).toLocaleTimeString('en-GB')}`}.`,
    );
  }
}

function keepLooking() {
  setTimeout(async () => {
    if (!document.hidden) await look();
    keepLooking();
  }, EVERY_MS);
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) look();
});

function deadCount() {
  const dead = state.destinations.reduce((sum, one) => sum + one.dead, 0);
  return dead === 0 ? '' : count(dead);
}

function drawNavigation() {
  for (const [name, Section] of Object.entries(SECTIONS)) {
    if (name === 'inbox' && !state.hasInbox) continue;
    const section = new Section(afterChange);
    const badge = el('span', { class: 'badge' }, name === 'dead-letters' ? deadCount() : '');
    const link = el('a', { href: `#${name}` }, section.title, badge);
    links.set(name, { section, link, badge });
    nav.append(link);
  }
}

async function open(byHand) {
  const asked = location.hash.slice(1);
  const name = links.has(asked) ? asked : 'dead-letters';
  const { section, link } = links.get(name);
  for (const other of links.values()) other.link.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'page');
  shown = section;
  place.replaceChildren(el('h2', { id: 'section-title', tabindex: -1 }, section.title), section.element);
  if (byHand) document.getElementById('section-title').focus();
  await refreshShown();
}

async function refreshShown() {
  try {
    await shown.refresh();
  } catch (error) {
    showTrouble(error.message);
  }
}

async function afterChange() {
  await Promise.all([look(), refreshShown()]);
  // What had the focus may be gone with the change.
  if (document.activeElement === document.body) document.getElementById('section-title').focus();
}
