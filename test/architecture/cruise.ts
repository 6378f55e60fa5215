import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';

export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));

const configFile = `${repositoryRoot}.dependency-cruiser.cjs`;

/** Reads libs/outbox/src below `root` with the rules of the repository. */
export async function cruiseSources(root: string): Promise<ICruiseResult> {
  const options = await extractDepcruiseOptions(configFile);
  const { output } = await cruise(['libs/outbox/src'], { ...options, baseDir: root });
  if (typeof output === 'string') throw new Error('dependency-cruiser returned a report where a result was expected.');
  return output;
}

/** `rule: from -> to` of every violation; a rule that is broken twice stands there twice. */
export function describeViolations(result: ICruiseResult): string[] {
  return result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);
}

export function brokenRules(result: ICruiseResult): string[] {
  return [...new Set(result.summary.violations.map(({ rule }) => rule.name))];
}

export function ruleNames(result: ICruiseResult): string[] {
  return (result.summary.ruleSetUsed?.forbidden ?? []).map(({ name }) => name ?? '');
}
