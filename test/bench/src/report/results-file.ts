import { existsSync } from 'node:fs';
import { access, constants, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { TargetResult } from '../targets/target.js';

/** What a figure has to be read with. */
export interface RunDescription {
  /** ISO time at which the run began. */
  readonly at: string;
  readonly command: string;
  readonly isQuick: boolean;
  readonly repeats: number;
  readonly machine: Readonly<Record<string, string>>;
  readonly server: Readonly<Record<string, string>>;
}

export interface StoredResult extends TargetResult {
  readonly title: string;
  readonly seconds: number;
  readonly run: RunDescription;
}

/** Results by the id of their target. */
export type StoredResults = Readonly<Record<string, StoredResult>>;

/** The file cannot be read or written, or somebody else wrote it; the message says which. */
export class ResultsFileError extends Error {}

const FORMAT = 'outbox-bench-results-1';

/** @throws ResultsFileError */
export async function readResults(path: string): Promise<StoredResults> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ResultsFileError(`${path} cannot be read (${codeOf(error)}).`, { cause: error });
  });
  const { format, results } = asJson(text);
  if (format !== FORMAT || typeof results !== 'object' || results === null) {
    throw new ResultsFileError(`${path} was not written by npm run bench -- --out.`);
  }
  return results as StoredResults; // the format names the version of this very type
}

/** Results of several runs; where two of them measured the same target, the later one in the list counts. */
export function mergeResults(runs: readonly StoredResults[]): StoredResults {
  return Object.assign({}, ...runs);
}

/** Keeps results in a file as they come; those that were in it before stay until their target is measured again. */
export class ResultsFile {
  private constructor(
    private readonly path: string,
    private results: StoredResults,
  ) {}

  /** @throws ResultsFileError before an hour of measuring rather than after it. */
  static async open(path: string): Promise<ResultsFile> {
    if (existsSync(path)) return new ResultsFile(path, await readResults(path));
    await access(dirname(path), constants.W_OK).catch((error: unknown) => {
      throw new ResultsFileError(`${path} cannot be written (${codeOf(error)}).`, { cause: error });
    });
    return new ResultsFile(path, {});
  }

  /** Written beside it and moved, so that an interrupted run leaves the file as it was. */
  async add(id: string, result: StoredResult): Promise<void> {
    this.results = { ...this.results, [id]: result };
    await writeFile(`${this.path}.part`, JSON.stringify({ format: FORMAT, results: this.results }));
    await rename(`${this.path}.part`, this.path);
  }
}

function asJson(text: string): { readonly format?: unknown; readonly results?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // no JSON at all is one more way of not being a file of results
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? error); // rejections of fs carry a code
}
