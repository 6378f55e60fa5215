import { writeFile } from 'node:fs/promises';
import { readArguments } from './arguments.js';
import { BenchServer } from './measure/bench-server.js';
import { describeMachine } from './measure/machine.js';
import { Progress } from './measure/progress.js';
import { toJson } from './report/json-line.js';
import { toText } from './report/text.js';
import { targets } from './targets/index.js';
import type { Bench, TargetResult } from './targets/target.js';

const options = readArguments(
  process.argv.slice(2),
  targets.map(({ id }) => id),
);
const progress = new Progress();
const server = await BenchServer.start();
const bench: Bench = {
  server,
  progress,
  repeats: options.isQuick ? 1 : options.repeats,
  isQuick: options.isQuick,
  size: (full, quick) => (options.isQuick ? quick : full),
};
const results = new Map<string, TargetResult>();
const run = {
  at: new Date().toISOString(),
  isQuick: options.isQuick,
  repeats: bench.repeats,
  machine: describeMachine(),
  server: await server.describe(),
};
try {
  for (const target of targets.filter(({ id }) => options.only.size === 0 || options.only.has(id))) {
    progress.step(`${target.id} ${target.title}`);
    const result = await target.run(bench);
    results.set(target.id, result);
    process.stdout.write(`${toText(target, result)}\n`);
    // After each target: a run of an hour that ends early has not been for nothing.
    if (options.out !== undefined)
      await writeFile(options.out, JSON.stringify({ run, results: Object.fromEntries(results) }));
  }
} finally {
  await server.stop();
}
if (options.isJson) process.stdout.write(`${toJson(results)}\n`);
