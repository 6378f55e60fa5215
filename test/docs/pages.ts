import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface CodeBlock {
  /** Path of the page from the root, with the line on which the block begins. */
  readonly place: string;
  readonly language: string;
  /** What stands behind the language in the opening line. */
  readonly note: string;
  readonly text: string;
}

/** Every page that users read, by its path from the root. */
export function pages(): ReadonlyMap<string, string> {
  const paths = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...markdownBelow(join(ROOT, 'docs'))];
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

export function codeBlocks(language: string): CodeBlock[] {
  return [...pages()].flatMap(([path, text]) => blocksOf(path, text)).filter((block) => block.language === language);
}

function markdownBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => relative(ROOT, join(folder, path)));
}

function blocksOf(path: string, text: string): CodeBlock[] {
  return [...text.matchAll(/^```(\w+)[ ]?(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    place: `${path}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    note: match[2] ?? '',
    text: match[3] ?? '',
  }));
}
