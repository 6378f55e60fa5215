import { explainStartFailure } from './explain-start-failure.js';

/** Starts the application whose folder in apps/ is named; if it cannot start, says why and ends the process. */
export async function startOrExplain(name: string, start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    process.stderr.write(`${name}: ${explainStartFailure(error, name)}\n`);
    process.exit(1);
  }
}
