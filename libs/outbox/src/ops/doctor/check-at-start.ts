import { Logger } from '@nestjs/common';
import type { StartUpChecks } from '../../config/index.js';
import { ConfigurationError } from '../../errors/index.js';
import { logLine } from '../../runtime/index.js';
import { START_UP_CHECKS } from './checks/index.js';
import { examine } from './examine.js';
import type { Examined } from './examined.js';

/**
 * Says at start what is wrong with this configuration on this database.
 *
 * @throws ConfigurationError for a problem, when they are to be refused.
 */
export async function checkAtStart(
  examined: Examined,
  { startUpChecks }: { readonly startUpChecks: StartUpChecks },
): Promise<void> {
  if (startUpChecks === 'off') return;
  const findings = await examine(examined, START_UP_CHECKS);
  const refused = findings.find(({ status }) => startUpChecks === 'refuse' && status === 'problem');
  if (refused !== undefined) {
    throw new ConfigurationError(
      `the start-up check "${refused.check}" found a problem: ${refused.found}. ${refused.advice} To start all the same, set startUpChecks: 'warn'.`,
    );
  }
  const logger = new Logger('OutboxDoctor');
  for (const { check, status, found, advice } of findings) {
    if (status !== 'ok') logger.warn(logLine(`start-up check found a ${status}`, { check, found, advice }));
  }
}
