// Relative to this file: only the browser knows what stands before the path.
const API = new URL('../api/', import.meta.url);

/** The application refused, and said why. */
export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** @param {Record<string, unknown>} [query] what is undefined or empty is left out. */
export function get(path, query = {}) {
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return answerOf(url, {});
}

/** Changes something, or asks what a change would reach. */
export function post(path, body) {
  return answerOf(new URL(path, API), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-outbox-dashboard': '1' },
    body: JSON.stringify(body),
  });
}

async function answerOf(url, init) {
  const response = await fetch(url, { ...init, cache: 'no-store', credentials: 'same-origin' }).catch(() => {
    throw new Refusal('The application does not answer.', 0);
  });
  const data = await response.json().catch(() => undefined);
  if (response.ok && data !== undefined) return data;
  throw new Refusal(reasonOf(response, data), response.status);
}

function reasonOf({ ok, status, statusText }, data) {
  if (status === 401) return 'You are not signed in any more. Reload the page.';
  const said = typeof data?.message === 'string' ? data.message : undefined;
  if (status === 403) return `You may not do this. ${said ?? ''}`;
  return said ?? (ok ? 'The answer cannot be read.' : `The application answered ${status} ${statusText}.`);
}
