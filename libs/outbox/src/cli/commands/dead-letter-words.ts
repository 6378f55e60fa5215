import type { DeadLetter, DeadLetterDetails } from '../../store/index.js';
import { counted } from '../print/counted.js';
import { facts, table, visible } from '../print/table.js';
import { when } from '../print/when.js';

export function deadLetterTable(letters: readonly DeadLetter[], total: number): string {
  if (letters.length === 0) return 'No dead letters.';
  const shown = table(letters, [
    ['id', ({ id }) => id],
    ['destination', ({ destination }) => destination],
    ['type', ({ type }) => type],
    ['aggregate', (letter) => aggregateOf(letter)],
    ['attempts', ({ attempts }) => attempts],
    ['since', ({ createdAt }) => when(createdAt)],
    ['blocks', ({ blocksKey }) => (blocksKey ? 'yes' : '-')],
    ['error', ({ error }) => error],
  ]);
  const count =
    letters.length < total ? `${letters.length} of ${counted(total, 'dead letter')}` : counted(total, 'dead letter');
  return `${shown}\n\n${count}`;
}

type Details = Omit<DeadLetterDetails, 'headers' | 'payload'> & Partial<Pick<DeadLetterDetails, 'headers' | 'payload'>>;

export function deadLetterDetails(letter: Details): string {
  const { headers, payload, history } = letter;
  const shown = facts([
    ['id', letter.id],
    ['destination', letter.destination],
    ['event', letter.eventId],
    ['type', letter.type],
    ['aggregate', aggregateOf(letter)],
    ['sequence', letter.sequence === undefined ? undefined : String(letter.sequence)],
    ['emitted', when(letter.emittedAt)],
    ['attempts', letter.attempts],
    ['blocks', letter.blocksKey ? `its aggregate; ${counted(letter.followers, 'event')} behind it` : 'nothing'],
    ['error', letter.error],
    ['headers', headers && JSON.stringify(headers)],
    ['payload', payload],
  ]);
  const lines = history.map(({ at, attempt, error, redrivenBy }) =>
    visible(
      redrivenBy === undefined ? `${when(at)}  attempt ${attempt}: ${error}` : `${when(at)}  redriven by ${redrivenBy}`,
    ),
  );
  return lines.length === 0 ? shown : `${shown}\n\nhistory\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

function aggregateOf({
  aggregateType,
  aggregateId,
}: Pick<DeadLetter, 'aggregateType' | 'aggregateId'>): string | undefined {
  return aggregateId === undefined ? undefined : `${aggregateType} ${aggregateId}`;
}
