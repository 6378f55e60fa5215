/** `2026-01-31 10:20:30Z`: to the second, in UTC, whatever the machine is set to. */
export function when(moment: Date | undefined): string | undefined {
  return moment
    ?.toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}
