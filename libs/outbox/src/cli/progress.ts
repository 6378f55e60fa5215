import type { Terminal } from './terminal.js';

export interface ProgressOptions {
  readonly progress?: boolean;
}

/** Says how far long work has come, where somebody watches or asked for it. `end` leaves the line clean. */
export function progressOn(
  terminal: Terminal,
  { progress }: ProgressOptions,
): { readonly show: (text: string) => void; readonly end: () => void } {
  if (!terminal.showsProgress && !progress) return { show: () => undefined, end: () => undefined };
  return { show: (text) => terminal.showProgress(text), end: () => terminal.showProgress('') };
}
