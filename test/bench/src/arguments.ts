import { parseArgs } from 'node:util';

export interface BenchArguments {
  /** Ids of the targets to run; empty for all. */
  readonly only: ReadonlySet<string>;
  readonly isQuick: boolean;
  readonly isJson: boolean;
  readonly isHelp: boolean;
  /** Measured rounds of each side. */
  readonly repeats: number;
  /** File for all samples and plots, which `npm run bench:report` reads. */
  readonly out: string | undefined;
  /** Length of the soak that runs instead of the targets. */
  readonly soakMinutes: number | undefined;
}

/** An argument is unknown or makes no sense; the message says which. */
export class ArgumentError extends Error {}

/** Below that, a median says nothing about how much the machine drifts. */
const LEAST_REPEATS = 5;
const MOST_REPEATS = 100;
const DEFAULT_SOAK_MINUTES = 30;
const MOST_SOAK_MINUTES = 24 * 60;

export function usage(known: readonly { readonly id: string; readonly title: string }[]): string {
  return `npm run bench [-- options]

  --only P1,P4      run these targets only; may be given again
  --quick           small sizes, one round: shows that everything works, its figures mean nothing
  --repeats N       measured rounds of each side, ${LEAST_REPEATS} to ${MOST_REPEATS}; fewer with --quick only (default ${LEAST_REPEATS}, or 1)
  --out FILE        keep all samples and plots for npm run bench:report; results of other targets in FILE stay
  --json            print the result as one JSON object, last of all
  --soak [MINUTES]  a mixed load at a constant rate instead of the targets (default ${DEFAULT_SOAK_MINUTES})
  --help            print this

${known.map(({ id, title }) => `  ${id.padEnd(4)} ${title}`).join('\n')}

DATABASE_URL=postgres://… uses a server of yours instead of the embedded one; databases are created there, and dropped.
The exit status is 0 when everything was measured, whether or not a bound was met; 1 when something could not be
measured; 2 when an argument is wrong.
`;
}

/** @throws ArgumentError */
export function readArguments(given: readonly string[], known: readonly string[]): BenchArguments {
  const values = parse(withSoakMinutes(given));
  if (values.soak !== undefined && (values.only.length > 0 || values.quick || values.repeats !== undefined)) {
    throw new ArgumentError('--soak runs by itself: leave out --only, --quick and --repeats.');
  }
  return {
    only: readOnly(values.only, known),
    isQuick: values.quick,
    isJson: values.json,
    isHelp: values.help,
    repeats: readRepeats(values.repeats, values.quick),
    out: readOut(values.out),
    soakMinutes: values.soak === undefined ? undefined : readMinutes(values.soak),
  };
}

interface Values {
  readonly only: readonly string[];
  readonly quick: boolean;
  readonly json: boolean;
  readonly help: boolean;
  readonly repeats?: string;
  readonly out?: string;
  readonly soak?: string;
}

function parse(given: readonly string[]): Values {
  try {
    return parseArgs({
      args: [...given],
      options: {
        only: { type: 'string', multiple: true, default: [] },
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        repeats: { type: 'string' },
        out: { type: 'string' },
        soak: { type: 'string' },
      },
    }).values;
  } catch (error) {
    // parseArgs explains well what is wrong, and throws TypeErrors for nothing else.
    if (error instanceof TypeError) throw new ArgumentError(error.message, { cause: error });
    throw error;
  }
}

/** The minutes may be left out, which parseArgs has no word for. */
function withSoakMinutes(given: readonly string[]): string[] {
  return given.flatMap((argument, index) => {
    if (argument === '--soak' && /^(-.*)?$/.test(given[index + 1] ?? '')) return [`--soak=${DEFAULT_SOAK_MINUTES}`];
    return [argument];
  });
}

function readOnly(given: readonly string[], known: readonly string[]): ReadonlySet<string> {
  const ids = given.flatMap((list) => list.split(',')).map((id) => id.trim().toUpperCase());
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return new Set(ids);
  throw new ArgumentError(`--only names "${unknown}", which is no target. Choose among ${known.join(', ')}.`);
}

function readRepeats(given: string | undefined, isQuick: boolean): number {
  const least = isQuick ? 1 : LEAST_REPEATS;
  if (given === undefined) return least;
  if (/^\d{1,3}$/.test(given) && Number(given) >= least && Number(given) <= MOST_REPEATS) return Number(given);
  const hint = isQuick ? '' : ' (fewer only with --quick)';
  throw new ArgumentError(
    `--repeats is "${given}"; it must be a whole number from ${least} to ${MOST_REPEATS}${hint}.`,
  );
}

function readOut(given: string | undefined): string | undefined {
  if (given === '') throw new ArgumentError('--out is empty; it must name a file.');
  return given;
}

function readMinutes(given: string): number {
  const minutes = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (minutes > 0 && minutes <= MOST_SOAK_MINUTES) return minutes;
  throw new ArgumentError(`--soak is "${given}"; it must be a number of minutes up to ${MOST_SOAK_MINUTES}.`);
}
