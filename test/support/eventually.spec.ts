import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.js';

describe('eventually', () => {
  it('returns what the first successful check returned', async () => {
    let calls = 0;
    const result = await eventually(() => {
      calls += 1;
      if (calls < 3) throw new Error('not yet');
      return calls;
    });
    expect(result).toBe(3);
  });

  it('throws the error of the last check when the time is over', async () => {
    let calls = 0;
    const waiting = eventually(
      () => {
        calls += 1;
        throw new Error(`failed ${calls} times`);
      },
      { timeoutMs: 50, intervalMs: 5 },
    );
    await expect(waiting).rejects.toThrow(/^failed \d+ times$/);
    await expect(waiting).rejects.not.toThrow('failed 1 times');
  });

  it('gives up on a check that hangs', async () => {
    const hanging = eventually(() => new Promise(() => undefined), { timeoutMs: 50 });
    await expect(hanging).rejects.toThrow('did not finish within 50 ms');
  });
});
