import { beforeEach, describe, expect, it } from 'vitest';
import { DispatchLog } from '../../libs/outbox/src/dispatch/dispatch-log.js';
import { RecordingLogger } from '../support/bare-dispatcher.js';

interface Question {
  readonly done: Promise<void>;
  answer(): void;
  fail(): void;
}

describe('a database whose sessions end and begin one after the other', () => {
  let logger: RecordingLogger;
  let log: DispatchLog;
  beforeEach(() => {
    logger = new RecordingLogger();
    log = new DispatchLog(logger, 'shop');
  });

  const ask = (): Question => {
    let answer = (): void => undefined;
    let fail = (): void => undefined;
    const asked = new Promise<void>((resolve, reject) => {
      answer = resolve;
      fail = () => reject(new Error('terminating connection'));
    });
    const done = log.askingDatabase('claim', () => asked).catch(() => undefined);
    return { done, answer: () => answer(), fail: () => fail() };
  };
  const answered = async (question: Question): Promise<void> => {
    question.answer();
    await question.done;
  };
  const failed = async (question: Question): Promise<void> => {
    question.fail();
    await question.done;
  };
  const said = (): string[] => logger.lines.map((line) => /database (un)?available( again)?/.exec(line)?.[0] ?? line);

  it('is not said to be away because of a question that is older than its newest answer', async () => {
    const older = ask();
    await answered(ask());
    await failed(older);
    expect(said()).toEqual([]);
    await failed(ask());
    expect(said()).toEqual(['database unavailable']);
  });

  it('is not said to be back because of a question that is older than its newest failure', async () => {
    const older = ask();
    await failed(ask());
    await answered(older);
    expect(said()).toEqual(['database unavailable']);
    await answered(ask());
    expect(said()).toEqual(['database unavailable', 'database available again']);
  });
});
