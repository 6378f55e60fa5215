import { parseArgs } from 'node:util';

export interface BenchArguments {
  /** Ids of the targets to run; empty for all. */
  readonly only: ReadonlySet<string>;
  readonly isQuick: boolean;
  readonly isJson: boolean;
  /** Measured rounds of each side. */
  readonly repeats: number;
  /** File for all samples and plots, which `npm run bench:report` reads. */
  readonly out: string | undefined;
}

/** Ends the process with status 2 and a message when the arguments are wrong. */
export function readArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true, default: [] },
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        repeats: { type: 'string', default: '5' },
        out: { type: 'string' },
      },
    });
    const only = values.only.flatMap((ids) => ids.split(',')).map((id) => id.trim().toUpperCase());
    const unknown = only.find((id) => !known.includes(id));
    if (unknown !== undefined) throw new Error(`--only ${unknown} is no target. Choose among ${known.join(', ')}.`);
    const repeats = Number(values.repeats);
    if (!Number.isSafeInteger(repeats) || repeats < 1)
      throw new Error(`--repeats ${values.repeats} is no whole number above 0.`);
    return { only: new Set(only), isQuick: values.quick, isJson: values.json, repeats, out: values.out };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
