import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Snippets stand here without being written: their imports resolve as those of any test do. */
const FOLDER = join(ROOT, 'test/types');

/** The compiler's errors in a snippet, by line: `12: 2345`. Its texts are kept for the message of a failed test. */
export interface SnippetErrors {
  readonly found: readonly string[];
  /** What the comments `// error 2345` at the end of lines announce, in the same form. */
  readonly announced: readonly string[];
  readonly texts: readonly string[];
}

/** Compiles snippets in one program, as the tests are compiled. */
export function compileSnippets<Name extends string>(
  snippets: Readonly<Record<Name, string>>,
): Record<Name, SnippetErrors> {
  const { options } = parseConfig();
  const names = Object.keys(snippets) as Name[]; // Object.keys forgets the type of the keys
  const paths = new Map(names.map((name) => [join(FOLDER, `snippet ${name}.ts`), snippets[name]]));
  const host = ts.createCompilerHost(options, true);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => paths.has(path) || fileExists(path);
  host.readFile = (path) => paths.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...rest) => {
    const text = paths.get(path);
    return text === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, text, rest[0], true);
  };
  const program = ts.createProgram([...paths.keys()], options, host);
  const compiled = names.map((name, index) => [
    name,
    errorsOf(program, [...paths.keys()][index] ?? '', snippets[name]),
  ]);
  return Object.fromEntries(compiled) as Record<Name, SnippetErrors>;
}

function parseConfig(): ts.ParsedCommandLine {
  const path = join(ROOT, 'tsconfig.check.json');
  const { config, error } = ts.readConfigFile(path, ts.sys.readFile);
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  return ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
}

function errorsOf(program: ts.Program, path: string, text: string): SnippetErrors {
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${path} was not compiled`);
  const diagnostics = ts.getPreEmitDiagnostics(program, file);
  const lineOf = ({ start = 0 }: ts.Diagnostic): number => file.getLineAndCharacterOfPosition(start).line + 1;
  return {
    found: diagnostics.map((diagnostic) => `${lineOf(diagnostic)}: ${diagnostic.code}`),
    announced: text
      .split('\n')
      .flatMap((line, index) => [...line.matchAll(/\/\/ error (\d+)/g)].map(([, code]) => `${index + 1}: ${code}`)),
    texts: diagnostics.map(
      (diagnostic) => `${lineOf(diagnostic)}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}`,
    ),
  };
}
