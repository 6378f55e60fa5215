import { describeError } from '../../errors/index.js';
import type { Examined } from './examined.js';
import { type Check, type Finding, type Verdict, warning } from './finding.js';

/** Asks one after the other, on one connection of the pool at a time; a check that fails is a finding, not an end. */
export async function examine(examined: Examined, checks: readonly Check[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) {
    const verdict = await lookWith(check, examined);
    if (verdict !== undefined) findings.push({ check: check.name, ...verdict });
  }
  return findings;
}

async function lookWith({ look }: Check, examined: Examined): Promise<Verdict | undefined> {
  try {
    return await look(examined);
  } catch (error) {
    return warning(
      `this could not be found out: ${describeError(error)}`,
      'Make sure that the tables are there and that this role may read them.',
    );
  }
}
