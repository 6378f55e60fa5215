/** Later than this, in ms, a message is no part of what created it: its spans are linked, or a trace would last for days. */
export const PROMPT_MS = 60_000;
