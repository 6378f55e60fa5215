import { setTimeout as wait } from 'node:timers/promises';
import { ArgumentError, type Arguments, readArguments, USAGE } from './arguments.js';
import { Cleanup } from './cleanup.js';
import { Narrator } from './narrator.js';
import { tellStory } from './story/tell-story.js';

const STORY_END_TIMEOUT_MS = 10_000;

const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

process.exit(await main());

async function main(): Promise<number> {
  const options = parse();
  if (options === undefined) return 2;
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  return show(options);
}

function parse(): Arguments | undefined {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    process.stderr.write(`demo: ${error.message}\n\n${USAGE}`);
    return undefined;
  }
}

/** Whatever happens, all that was started is stopped before this resolves with the exit code. */
async function show(options: Arguments): Promise<number> {
  const cleanup = new Cleanup();
  const interrupted = untilSignal();
  let isOver = false;
  const story = tellStory(options, new Narrator(), cleanup).then((wrong) => {
    isOver = true;
    return wrong.length === 0 ? 0 : 1;
  });
  try {
    const code = await Promise.race([story, interrupted]);
    if (isOver && !options.once) await interrupted;
    return code;
  } catch (error) {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    for (const failure of await cleanup.run()) process.stderr.write(`demo: could not clean up ${failure}\n`);
    // A story that was interrupted fails soon, because what it needs is gone; until then it may still start something.
    await Promise.race([Promise.allSettled([story]), wait(STORY_END_TIMEOUT_MS)]);
    if (!options.once) process.stderr.write('demo: everything was taken down.\n');
  }
}

function untilSignal(): Promise<number> {
  return new Promise((resolve) => {
    for (const [signal, code] of Object.entries(SIGNAL_EXIT_CODES)) process.on(signal, () => resolve(code));
  });
}
