/** What may happen between a database and a receiver. */
export const PATHS = [
  'normal',
  'crash-after-commit',
  'receiver-down',
  'rollback-after-send',
  'crash-after-send',
] as const;

export type Path = (typeof PATHS)[number];

/** Reads what the test asks for. */
export function readPath(text: string | undefined): Path {
  const path = PATHS.find((one) => one === text);
  if (path === undefined) throw new Error(`DUAL_WRITE_PATH is "${text}"; it must be one of ${PATHS.join(', ')}.`);
  return path;
}

/** Ends this process as a power cut would: nothing is flushed, closed or rolled back by it. */
export function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
