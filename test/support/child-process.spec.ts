import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { startChild } from './child-process.js';

const linePrinter = new URL('../processes/dist/line-printer.js', import.meta.url);

describe('startChild', () => {
  it('collects the lines of both streams and the exit code', async () => {
    const child = startChild(linePrinter, { args: ['a', 'b'], env: { GREETING: 'hello', EXIT_CODE: '3' } });
    expect(await child.exited).toBe(3);
    expect(child.exitCode).toBe(3);
    expect(child.lines.toSorted()).toEqual(['arguments a b', 'greeting hello']);
  });

  it('finds a line, whether it came before the call or after it', async () => {
    const child = startChild(linePrinter, { args: ['x'] });
    expect(await child.waitForLine(/^arguments/)).toBe('arguments x');
    expect(await child.waitForLine(/^arguments (x)$/)).toBe('arguments x');
  });

  it('fails at once, with the output, when the program ends without the line', async () => {
    const child = startChild(linePrinter, { env: { EXIT_CODE: '0' } });
    await expect(child.waitForLine(/never/)).rejects.toThrow(/The program has ended.*greeting none/s);
  });

  it('fails when the line does not come in time', async () => {
    const child = startChild(linePrinter);
    await expect(child.waitForLine(/never/, 50)).rejects.toThrow('After 50 ms');
  });

  it('resolves kill() when the program is gone', async () => {
    const child = startChild(linePrinter);
    await child.kill('SIGKILL');
    expect(child.exitCode).toBeUndefined();
    expect(() => process.kill(child.pid, 0)).toThrow('ESRCH');
  });

  it('leaves nothing of what it has started itself', async () => {
    const forever = 'setInterval(() => {}, 1000)';
    const code = `const child = require('node:child_process').spawn(process.execPath, ['-e', '${forever}']);
      console.log('started ' + child.pid); ${forever}`;
    const child = startChild('-e', { args: [code] });
    const pid = Number((await child.waitForLine(/started \d+/)).split(' ')[1]);
    await child.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

/** A process that has ended counts as gone, also while nobody has asked how it ended. */
function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'state=', '-p', String(pid)])
      .toString()
      .startsWith('Z');
  } catch {
    return false; // ps knows no such process
  }
}
