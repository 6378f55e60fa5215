import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Where the program talks: the answer goes to `out`, everything else to `say`. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Whether somebody is there who can answer. */
  readonly isInteractive: boolean;
  /** Whether somebody watches. */
  readonly showsProgress: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  out(text: string): void;
  say(text: string): void;
  /** Writes over the last one; an empty text ends it. */
  showProgress(text: string): void;
  /** True for yes. */
  ask(question: string): Promise<boolean>;
}

export function processTerminal(): Terminal {
  const stop = new AbortController();
  // The second Ctrl-C ends the process as ever.
  process.once('SIGINT', () => stop.abort());
  return {
    env: process.env,
    workingDirectory: process.cwd(),
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    showsProgress: process.stderr.isTTY === true,
    signal: stop.signal,
    out: (text) => void process.stdout.write(text),
    say: (text) => void process.stderr.write(`${text}\n`),
    showProgress: (text) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
      else if (text !== '') process.stderr.write(`${text}\n`);
    },
    ask: (question) => askOn(question, stop.signal),
  };
}

/** Ctrl-C, Ctrl-D and the end of the input mean no. */
async function askOn(question: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = once(lines, 'close').then(() => 'no');
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return false;
    throw error;
  } finally {
    lines.close();
  }
}
