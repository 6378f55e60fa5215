import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compare, figure } from '../src/measure/comparison.js';
import { fillBlocks } from '../src/report/fill-blocks.js';
import { toReport } from '../src/report/markdown.js';
import { mergeResults, ResultsFile, readResults, type StoredResult } from '../src/report/results-file.js';

const RUN = {
  at: '2026-03-01T10:00:00.000Z',
  command: 'npm run bench -- --only P1',
  isQuick: false,
  repeats: 5,
  machine: { cores: '2', processor: 'Some CPU', memory: '8 GiB', node: 'v20.20.0', platform: 'linux x64' },
  server: { server_version: '18.1', fsync: 'on' },
};

function result(overrides: Partial<StoredResult> = {}): StoredResult {
  const ours = figure('dispatcher', 'events/s', [40_000, 41_000, 39_000]);
  const against = figure('raw loop', 'events/s', [50_000, 50_000, 50_000]);
  return {
    title: 'the dispatcher costs little',
    seconds: 12,
    run: RUN,
    comparisons: [
      compare('batch 100', ours, against, { atLeast: 0.8 }),
      compare('batch 500', ours, against, undefined),
    ],
    ...overrides,
  };
}

describe('the report', () => {
  const plot = { title: 'A curve', kind: 'lines', xLabel: 'x', yLabel: 'y', series: [] } as const;

  it('shows each comparison with its medians, spreads, ratio, bound and outcome', () => {
    const { page } = toReport({ P1: result() });
    expect(page).toContain('### P1: the dispatcher costs little');
    expect(page).toContain(
      '| batch 100 | dispatcher: 40,000 events/s (39,000 to 41,000) | raw loop: 50,000 events/s (50,000 to 50,000) | 0.80 | at least 0.8 | met |',
    );
    expect(page).toContain('| P1 | the dispatcher costs little | met |');
  });

  it('says plainly what was missed', () => {
    const missed = compare('slow', figure('a', 'ms', [3]), figure('b', 'ms', [1]), { atMost: 2 });
    const { page } = toReport({ P4: result({ comparisons: [missed] }) });
    expect(page).toContain('| 3.00 | at most 2 | **missed** |');
    expect(page).toContain('| P4 | the dispatcher costs little | 0 of 1 met |');
  });

  it('names machine, settings, day and command, of each run', () => {
    const later = { ...RUN, at: '2026-03-02T10:00:00.000Z', command: 'npm run bench -- --soak 30', repeats: 1 };
    const { page } = toReport({ P1: result(), P2: result(), SOAK: result({ run: later }) });
    expect(page).toContain(
      '- P1, P2: `npm run bench -- --only P1` on 2026-03-01, 5 rounds of each side, on 2 cores (Some CPU)',
    );
    expect(page).toContain('- SOAK: `npm run bench -- --soak 30` on 2026-03-02, 1 round of each side');
    expect(page).toContain('PostgreSQL 18.1 with `fsync` on');
  });

  it('puts pictures beside the page and shows them', () => {
    const { page, plots } = toReport({ P1: result({ plots: [plot, plot] }) });
    expect([...plots.keys()]).toEqual(['p1-1.svg', 'p1-2.svg']);
    expect(page).toContain('![A curve](performance/p1-2.svg)');
  });

  it('warns of figures from a quick run', () => {
    expect(toReport({ P1: result({ run: { ...RUN, isQuick: true } }) }).page).toContain('From a quick run');
    expect(toReport({ P1: result() }).page).not.toContain('From a quick run');
  });

  it('shows tables and notes, and a target that no chapter knows', () => {
    const table = { title: 'Costs', columns: ['size', 'bytes'], rows: [['300 B', 1234.5]] };
    const { page } = toReport({ P99: result({ tables: [table], notes: ['Nothing else ran.'] }) });
    expect(page).toContain('## Further measurements\n\n### P99');
    expect(page).toContain('| size | bytes |\n| --- | --: |\n| 300 B | 1,235 |');
    expect(page).toContain('- Nothing else ran.');
  });

  it('fills the measured tables of a page that is written by hand, and leaves the rest of it alone', () => {
    const tables = [{ title: 'Costs', columns: ['size'], rows: [['300 B']] }];
    const page = 'before\n\n<!-- measured: P15 Costs -->\n\nold\n\n<!-- end -->\n\nafter\n';
    expect(fillBlocks(page, {})).toBe(page);
    const filled = 'before\n\n<!-- measured: P15 Costs -->\n\n| size |\n| --- |\n| 300 B |\n\n<!-- end -->\n\nafter\n';
    expect(fillBlocks(page, { P15: result({ tables }) })).toBe(filled);
    expect(fillBlocks(filled, { P15: result({ tables }) })).toBe(filled);
    expect(() => fillBlocks(page, { P15: result() })).toThrow('P15 has no table "Costs"');
    const conditions = '<!-- measured: P15 conditions -->\n<!-- end -->';
    expect(fillBlocks(conditions, { P15: result() })).toContain(
      'Measured on 2026-03-01 on 2 cores (Some CPU) with 8 GiB',
    );
  });
});

describe('files of results', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bench-results-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('a later run of one target replaces that target only', async () => {
    const path = join(folder, 'kept.json');
    const first = await ResultsFile.open(path);
    await first.add('P1', result({ title: 'old' }));
    await first.add('P2', result({ title: 'other' }));
    await (await ResultsFile.open(path)).add('P1', result({ title: 'new' }));
    const kept = await readResults(path);
    expect([kept.P1?.title, kept.P2?.title]).toEqual(['new', 'other']);
    expect(kept.P1?.comparisons[0]?.ours.samples).toEqual([40_000, 41_000, 39_000]);
  });

  it('of several files, the later one counts', () => {
    const merged = mergeResults([
      { P1: result({ title: 'a' }), P2: result({ title: 'b' }) },
      { P1: result({ title: 'c' }) },
    ]);
    expect([merged.P1?.title, merged.P2?.title]).toEqual(['c', 'b']);
  });

  it('what cannot be a file of results is refused before anything is measured, and stays as it is', async () => {
    const other = join(folder, 'package.json');
    await writeFile(other, '{"name":"mine"}');
    await expect(ResultsFile.open(other)).rejects.toThrow('was not written by npm run bench -- --out');
    expect(await readFile(other, 'utf8')).toBe('{"name":"mine"}');
    await writeFile(join(folder, 'later.json'), '{"format":"outbox-bench-results-2","results":{}}');
    await expect(readResults(join(folder, 'later.json'))).rejects.toThrow('was not written by');
    await expect(ResultsFile.open(join(folder, 'none/x.json'))).rejects.toThrow('cannot be written (ENOENT)');
    await expect(readResults(join(folder, 'gone.json'))).rejects.toThrow('cannot be read (ENOENT)');
  });
});
