import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inboxMigrations, outboxMigrations } from 'nestjs-transactional-outbox';
import { DataSource } from 'typeorm';
import { afterAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { codeBlocks, pages, ROOT } from './pages.js';

const SNIPPETS = join(ROOT, 'test/docs/.snippets');

describe('what the documentation shows', () => {
  afterAll(() => rmSync(SNIPPETS, { recursive: true, force: true }));

  it('every TypeScript snippet compiles', { timeout: 120_000 }, () => {
    const snippets = codeBlocks('ts').filter(({ note }) => note === '');
    expect(snippets.length).toBeGreaterThan(8);
    mkdirSync(SNIPPETS, { recursive: true });
    for (const [index, { place, text }] of snippets.entries()) {
      writeFileSync(join(SNIPPETS, `snippet-${index}.ts`), `// ${place}\n${text}`);
    }
    const config = { extends: '../../../tsconfig.check.json', include: ['*.ts'], compilerOptions: { noEmit: true } };
    writeFileSync(join(SNIPPETS, 'tsconfig.json'), JSON.stringify(config));
    expect(compile(), snippets.map(({ place }, index) => `snippet-${index}: ${place}`).join('\n')).toBe('');
  });

  it('every quotation stands in the file that it names', () => {
    const quotations = codeBlocks('ts').filter(({ note }) => note.startsWith('quote='));
    expect(quotations.length).toBeGreaterThan(0);
    for (const { note, text, place } of quotations) {
      const source = readFileSync(join(ROOT, note.slice('quote='.length)), 'utf8');
      expect(source.includes(text), `${place} is not in ${note}`).toBe(true);
    }
  });

  it('every SQL snippet runs on the tables of the library', async () => {
    const snippets = codeBlocks('sql');
    expect(snippets.length).toBeGreaterThan(4);
    const database = await createTestDatabase();
    const dataSource = new DataSource({
      type: 'postgres',
      url: database.url,
      migrations: [...outboxMigrations(), ...inboxMigrations()],
    });
    await dataSource.initialize();
    await dataSource.runMigrations();
    for (const { place, text } of snippets) await expect(dataSource.query(text), place).resolves.toBeDefined();
    await dataSource.destroy();
    await database.drop();
  });

  it('every npm script that a page names exists', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const [page, text] of pages()) {
      for (const [, name] of text.matchAll(/npm run ([\w:-]+)/g)) {
        expect(Object.keys(scripts), `${page} names npm run ${name}`).toContain(name);
      }
    }
    for (const name of Object.keys(scripts)) {
      expect(pages().get('README.md'), `README.md does not name ${name}`).toContain(
        name === 'test' ? 'npm test' : `npm run ${name}`,
      );
    }
  });

  it('every link leads to a page or a file that exists', () => {
    for (const [page, text] of pages()) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const path = join(ROOT, dirname(page), target.replace(/#.*$/, ''));
        expect(existsSync(path), `${page} links to ${target}`).toBe(true);
      }
    }
  });

  it('every test that a page names is there', () => {
    const named = [...pages()].flatMap(([page, text]) =>
      [...text.matchAll(/\[([^\]]+)\]\(([^)\s]*\/test\/[^)\s]+\.ts)\)/g)].map(([, title = '', path = '']) => ({
        page,
        title,
        path,
      })),
    );
    expect(named.length).toBeGreaterThan(30);
    for (const { page, title, path } of named) {
      const source = readFileSync(join(ROOT, dirname(page), path), 'utf8').replaceAll("\\'", "'");
      expect(source.includes(title), `${page} names the test "${title}" in ${path}`).toBe(true);
    }
  });

  it('every error code is documented, and no other', () => {
    const source = execFileSync('git', ['grep', '-ohE', "code: '(OUTBOX|INBOX)_[A-Z_]+'", '--', 'libs/outbox/src'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const thrown = new Set([...source.matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code));
    const documented = new Set(
      [...(pages().get('docs/errors.md') ?? '').matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code),
    );
    expect([...documented].sort()).toEqual([...thrown].sort());
  });
});

/** What the compiler has to say; nothing when all is well. */
function compile(): string {
  try {
    return execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', SNIPPETS], {
      encoding: 'utf8',
    });
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}
