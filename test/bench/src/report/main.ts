import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillBlocks } from './fill-blocks.js';
import { PLOT_FOLDER, type Report, toReport } from './markdown.js';
import { mergeResults, ResultsFileError, readResults } from './results-file.js';

// Program: writes docs/performance.md, its pictures and the measured tables of the guides from files of results.

/** Written by hand, with measured tables in them. */
const FILLED_PAGES = ['operations/sizing.md', 'operations/retention.md'];

const USAGE = `npm run bench:report -- FILE [FILE …]

Writes docs/performance.md and its pictures from what npm run bench -- --out FILE has kept. Of several files, a later one
replaces the targets that it has.
`;

process.exit(await main(process.argv.slice(2)));

async function main(files: readonly string[]): Promise<number> {
  if (files.length === 0 || files.some((file) => file.startsWith('-'))) {
    const isHelp = files.includes('--help');
    (isHelp ? process.stdout : process.stderr).write(USAGE);
    return isHelp ? 0 : 2;
  }
  try {
    const runs = [];
    for (const file of files) runs.push(await readResults(resolve(process.env.INIT_CWD ?? '', file)));
    const results = mergeResults(runs);
    const docs = fileURLToPath(new URL('../../../../docs', import.meta.url));
    await write(toReport(results), docs);
    for (const page of FILLED_PAGES) {
      const path = join(docs, page);
      await writeFile(path, fillBlocks(await readFile(path, 'utf8'), results));
    }
    return 0;
  } catch (error) {
    if (!(error instanceof ResultsFileError)) throw error;
    process.stderr.write(`bench:report: ${error.message}\n`);
    return 2;
  }
}

async function write({ page, plots }: Report, docs: string): Promise<void> {
  const folder = join(docs, PLOT_FOLDER);
  await mkdir(folder, { recursive: true });
  for (const old of await readdir(folder)) if (!plots.has(old)) await rm(join(folder, old));
  for (const [file, picture] of plots) await writeFile(join(folder, file), picture);
  await writeFile(join(docs, 'performance.md'), page);
}
