import { describeError } from '../../errors/index.js';
import type { SchemaComponent } from '../../store/index.js';
import { SCHEMA_CHECKS, TABLE_CHECKS } from './checks/index.js';
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

/** What could be asked of tables that are missing would only say so again. */
export async function diagnose(examined: Examined): Promise<readonly Finding[]> {
  const { outbox, inbox, versionOf } = examined;
  const isThere = async (component: SchemaComponent | undefined): Promise<boolean> =>
    component !== undefined && (await versionOf(component)).version > 0;
  const { outbox: _outbox, inbox: _inbox, ...rest } = examined;
  const present = {
    ...rest,
    ...(outbox && (await isThere(outbox.component)) && { outbox }),
    ...(inbox && (await isThere(inbox.component)) && { inbox }),
  };
  return [...(await examine(examined, SCHEMA_CHECKS)), ...(await examine(present, TABLE_CHECKS))];
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
