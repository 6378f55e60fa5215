import { resolve } from 'node:path';
import { ArgumentError, type BenchArguments, readArguments, usage } from './arguments.js';
import { BenchServer } from './measure/bench-server.js';
import { describeMachine } from './measure/machine.js';
import { Progress } from './measure/progress.js';
import { toJson } from './report/json-line.js';
import { ResultsFile, ResultsFileError } from './report/results-file.js';
import { runTargets } from './run-targets.js';
import { soak } from './soak/soak.js';
import { targets as allTargets } from './targets/index.js';
import type { Target } from './targets/target.js';

const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const targets = allTargets.toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));

process.exit(await main());

async function main(): Promise<number> {
  try {
    const options = readArguments(
      process.argv.slice(2),
      targets.map(({ id }) => id),
    );
    if (options.isHelp) {
      process.stdout.write(usage(targets));
      return 0;
    }
    return await measure(options, options.out === undefined ? undefined : await ResultsFile.open(pathOf(options.out)));
  } catch (error) {
    if (!(error instanceof ArgumentError) && !(error instanceof ResultsFileError)) throw error;
    process.stderr.write(`bench: ${error.message}\nbench: npm run bench -- --help names all options.\n`);
    return 2;
  }
}

/** Whatever happens, the server and its databases are gone before this resolves with the exit status. */
async function measure(options: BenchArguments, file: ResultsFile | undefined): Promise<number> {
  const interruption = new AbortController();
  const interrupted = untilSignal(interruption);
  const starting = BenchServer.start();
  try {
    return await Promise.race([
      starting.then((server) => measureOn(server, options, file, interruption.signal)),
      interrupted,
    ]);
  } finally {
    await (await starting).stop();
  }
}

async function measureOn(
  server: BenchServer,
  options: BenchArguments,
  file: ResultsFile | undefined,
  signal: AbortSignal,
): Promise<number> {
  const run = {
    at: new Date().toISOString(),
    command: commandOf(process.argv.slice(2)),
    isQuick: options.isQuick,
    repeats: options.soakMinutes === undefined ? options.repeats : 1,
    machine: describeMachine(),
    server: await server.describe(),
  };
  const bench = {
    server,
    progress: new Progress(),
    repeats: options.repeats,
    isQuick: options.isQuick,
    size: (full: number, quick: number) => (options.isQuick ? quick : full),
  };
  const outcomes = await runTargets(chosen(options), bench, run, file, signal);
  if (options.isJson && !signal.aborted) process.stdout.write(`${toJson(outcomes)}\n`);
  return [...outcomes.values()].some((outcome) => 'failure' in outcome) ? 1 : 0;
}

function chosen({ only, soakMinutes }: BenchArguments): readonly Target[] {
  if (soakMinutes !== undefined) return [soak(soakMinutes)];
  return targets.filter(({ id }) => only.size === 0 || only.has(id));
}

/** As somebody else would type it: the file that the result went to is nobody's business. */
function commandOf(given: readonly string[]): string {
  const isOut = (argument: string | undefined): boolean => argument === '--out';
  const kept = given.filter((argument, index) => !/^--out(=|$)/.test(argument) && !isOut(given[index - 1]));
  return ['npm run bench', ...(kept.length > 0 ? ['--', ...kept] : [])].join(' ');
}

/** npm runs scripts in the folder of their package; a file is meant where npm was called. */
function pathOf(file: string): string {
  return resolve(process.env.INIT_CWD ?? '', file);
}

/** From then on, everything that still runs loses its connections, and none of its complaints matters. */
function untilSignal(interruption: AbortController): Promise<number> {
  return new Promise((finish) => {
    for (const [signal, code] of Object.entries(SIGNAL_EXIT_CODES)) {
      process.once(signal, () => {
        process.on('uncaughtException', () => undefined);
        interruption.abort();
        process.stderr.write(`bench: ${signal}; everything is taken down.\n`);
        finish(code);
      });
    }
  });
}
