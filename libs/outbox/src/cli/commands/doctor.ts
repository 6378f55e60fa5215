import { ConfigurationError } from '../../errors/index.js';
import { diagnose, type ExaminedInbox, examinedAt, type Finding } from '../../ops/index.js';
import { applicationPoolSize, resolveInboxNames } from '../../store/index.js';
import type { Answer } from '../answer.js';
import { addCommand, type Call, type Shelf } from '../command.js';
import { counted } from '../print/counted.js';
import { visible } from '../print/table.js';
import type { Session } from '../session.js';

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const;

export function addDoctor(shelf: Shelf): void {
  addCommand(shelf, shelf.program, 'doctor', 'prove the configuration against the live database', work);
}

async function work({ session }: Call<object>): Promise<Answer> {
  const findings = [...(await findingsOf(session))];
  const isWrong = findings.some(({ status }) => status === 'problem');
  return { data: { isWrong, findings }, text: inWords(findings), isWrong };
}

/** A configuration that contradicts itself is a finding too; the checks go on with what the database says alone. */
async function findingsOf(session: Session): Promise<readonly Finding[]> {
  const wrong: Finding[] = [];
  const unlessWrong = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      wrong.push({
        check: 'configuration',
        status: 'problem',
        found: error.message,
        advice: 'The application does not start with it.',
      });
      return undefined;
    }
  };
  const options = unlessWrong(() => session.outboxOptions);
  const inboxOptions = unlessWrong(() => session.inboxOptions);
  const { outbox, inbox } = session.config ?? {};
  const hasOutbox = outbox !== undefined || inbox === undefined;
  const dataSource = await session.postgres();
  const examined = examinedAt(
    dataSource,
    hasOutbox
      ? {
          names: session.outboxNames,
          ...(options && { options }),
        }
      : undefined,
    inboxOptions && (await examinedInbox(session, inboxOptions)),
  );
  // Of the application, not of this command.
  const checked = await diagnose({ ...examined, applicationPoolSize: applicationPoolSize(session.connectionOptions) });
  return [...wrong, ...checked];
}

async function examinedInbox(
  session: Session,
  { tables, dedupeWindowMs, longestRedeliveryMs }: NonNullable<Session['inboxOptions']>,
): Promise<ExaminedInbox> {
  const { component, failed } = await session.inboxDatabase();
  const names = resolveInboxNames(tables);
  const indexes = ['processed_at', 'failed_at'].map((suffix) => `${names.schema}.${names.index(suffix)}`);
  return { component, failed, indexes, dedupeWindowMs, longestRedeliveryMs };
}

function inWords(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, status, found, advice }) => [
    `${MARKS[status]}  ${check.padEnd(width)}  ${visible(found)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 11)}→ ${advice}`]),
  ]);
  const count = (wanted: Finding['status']): number => findings.filter(({ status }) => status === wanted).length;
  return `${lines.join('\n')}\n\n${counted(count('problem'), 'problem')}, ${counted(count('warning'), 'warning')}, ${count('ok')} ok`;
}
