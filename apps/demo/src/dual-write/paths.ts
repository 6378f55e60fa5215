/** What may happen between a database and a receiver, one after the other written to. */
export const PATHS = [
  'normal',
  'crash-after-commit',
  'receiver-down',
  'rollback-after-send',
  'crash-after-send',
] as const;

export type Path = (typeof PATHS)[number];

export const DESCRIPTIONS: Readonly<Record<Path, string>> = {
  normal: 'nothing goes wrong',
  'crash-after-commit': 'crash after the commit',
  'receiver-down': 'receiver down',
  'rollback-after-send': 'rollback after sending',
  'crash-after-send': 'crash after sending',
};

/** Reads what the parent process asks for. */
export function readPath(text: string | undefined): Path {
  const path = PATHS.find((one) => one === text);
  if (path === undefined) throw new Error(`DUAL_WRITE_PATH is "${text}"; it must be one of ${PATHS.join(', ')}.`);
  return path;
}

/** Ends this process as a power cut would: nothing is flushed, closed or rolled back by it. */
export function crash(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
