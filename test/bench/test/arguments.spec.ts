import { describe, expect, it } from 'vitest';
import { ArgumentError, readArguments, usage } from '../src/arguments.js';

const KNOWN = ['P1', 'P2', 'P10'];

describe('arguments of the bench', () => {
  it('without any, every target is measured five times', () => {
    expect(readArguments([], KNOWN)).toEqual({
      only: new Set(),
      isQuick: false,
      isJson: false,
      isHelp: false,
      repeats: 5,
      out: undefined,
      soakMinutes: undefined,
    });
  });

  it('targets may be named in any case, in lists and again', () => {
    const { only } = readArguments(['--only', 'p1, P10', '--only=P2'], KNOWN);
    expect([...only]).toEqual(['P1', 'P10', 'P2']);
  });

  it('fewer rounds than five need a quick run, which has one', () => {
    expect(readArguments(['--quick'], KNOWN).repeats).toBe(1);
    expect(readArguments(['--quick', '--repeats', '3'], KNOWN).repeats).toBe(3);
    expect(readArguments(['--repeats', '7'], KNOWN).repeats).toBe(7);
  });

  it('the minutes of a soak may be left out, wherever it stands', () => {
    expect(readArguments(['--soak'], KNOWN).soakMinutes).toBe(30);
    expect(readArguments(['--soak', '--json'], KNOWN)).toMatchObject({ soakMinutes: 30, isJson: true });
    expect(readArguments(['--soak', '5', '--out', 'x.json'], KNOWN)).toMatchObject({ soakMinutes: 5, out: 'x.json' });
    expect(readArguments(['--soak=0.5'], KNOWN).soakMinutes).toBe(0.5);
  });

  it.each([
    [['--only', 'P3'], '--only names "P3", which is no target. Choose among P1, P2, P10.'],
    [['--only', ''], '--only names "", which is no target.'],
    [['--repeats', '3'], '--repeats is "3"; it must be a whole number from 5 to 100 (fewer only with --quick).'],
    [['--repeats', '4', '--only', 'P1'], '--repeats is "4"'],
    [['--quick', '--repeats', '0'], '--repeats is "0"; it must be a whole number from 1 to 100.'],
    [['--repeats', '5.5'], '--repeats is "5.5"'],
    [['--repeats', 'many'], '--repeats is "many"'],
    [['--soak', 'long'], '--soak is "long"; it must be a number of minutes up to 1440.'],
    [['--soak', '0'], '--soak is "0"'],
    [['--soak', '5', '--quick'], '--soak runs by itself: leave out --only, --quick and --repeats.'],
    [['--soak', '--only', 'P1'], '--soak runs by itself'],
    [['--out', ''], '--out is empty; it must name a file.'],
    [['--fast'], "Unknown option '--fast'"],
    [['P1'], "Unexpected argument 'P1'"],
    [['--only'], "Option '--only <value>' argument missing"],
  ])('%j is refused, and the message says why', (given, complaint) => {
    expect(() => readArguments(given, KNOWN)).toThrow(ArgumentError);
    expect(() => readArguments(given, KNOWN)).toThrow(complaint);
  });

  it('the help names every option and every target', () => {
    const text = usage([{ id: 'P1', title: 'it is fast' }]);
    for (const option of ['only', 'quick', 'repeats', 'out', 'json', 'soak', 'help'])
      expect(text).toContain(`--${option}`);
    expect(text).toContain('P1   it is fast');
  });
});
