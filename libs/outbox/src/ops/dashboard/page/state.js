/** What the last look told, for all parts of the page. */
export const state = {
  /** Name by which the application knows whoever looks; undefined when the page has to ask. */
  operator: undefined,
  hasInbox: false,
  replay: undefined,
  /** @type {object[]} */
  destinations: [],
};

let name = '';

/** The name that was given last; it is forgotten with the page. */
export const askedName = () => name;

export function rememberName(given) {
  name = given;
}
