import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../libs/outbox/src/cli/program.js';

const PROGRAM = fileURLToPath(new URL('../../libs/outbox/bin/outbox.js', import.meta.url));

/** What the sample application ships for the command line. */
export const ORDERS_CONFIG = fileURLToPath(new URL('../../apps/orders/dist/outbox.config.js', import.meta.url));
export const INBOX_CONFIG = fileURLToPath(new URL('../processes/dist/inbox-config.js', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the compiled program with nobody at its terminal. */
export async function outbox(
  args: readonly string[],
  { env = {}, cwd }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<CliResult> {
  const { DATABASE_URL: _ofTheTests, ...inherited } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  const closed = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await closed) as [number | null];
  return { code, out, err };
}

/** The same in this process, where a hundred calls cost little: everything but the program's two first lines. */
export async function outboxHere(
  args: readonly string[],
  {
    env = {},
    cwd = process.cwd(),
    answers,
  }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
    /** Somebody is there, who says this to each question. */
    readonly answers?: boolean;
  } = {},
): Promise<CliResult> {
  let [out, err] = ['', ''];
  const code = await runProgram(args, {
    env,
    workingDirectory: cwd,
    isInteractive: answers !== undefined,
    showsProgress: false,
    signal: new AbortController().signal,
    out: (written) => {
      out += written;
    },
    say: (said) => {
      err += `${said}\n`;
    },
    showProgress: () => undefined,
    ask: async (question) => {
      err += `${question}\n`;
      return answers ?? false;
    },
  });
  return { code, out, err };
}
