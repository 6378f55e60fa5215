/**
 * Runs `work` as often as asked for, by several writers that share the calls; each waits for its own call only.
 *
 * @returns milliseconds of wall time for each call.
 */
export async function runWriters(
  options: { readonly writers: number; readonly calls: number },
  work: (call: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < options.calls) {
      const call = next;
      next += 1;
      await work(call);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: options.writers }, write));
  return (performance.now() - startedAt) / options.calls;
}
