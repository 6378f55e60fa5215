import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';

/** One transaction that the code running now takes part in. Frames of several DataSources form a linked list. */
export interface AmbientFrame {
  readonly dataSource: DataSource;
  readonly runner: QueryRunner;
  readonly parent: AmbientFrame | undefined;
  /** Set by the owner of the frame; the async context itself lives on in timers and un-awaited work. */
  ended: boolean;
}

/** No state of its own: what it holds belongs to one asynchronous call chain, and every frame names its DataSource. */
const storage = new AsyncLocalStorage<AmbientFrame | undefined>();

/** The innermost frame of this DataSource, ended or not. */
export function findFrame(dataSource: DataSource): AmbientFrame | undefined {
  let frame = storage.getStore();
  while (frame !== undefined && frame.dataSource !== dataSource) frame = frame.parent;
  return frame;
}

/** The runner that statements of this DataSource take part in now, if any. */
export function ambientRunner(dataSource: DataSource): QueryRunner | undefined {
  const frame = findFrame(dataSource);
  return frame === undefined || frame.ended ? undefined : frame.runner;
}

/** Runs `work` with `runner` as its transaction; afterwards the frame counts as ended for whatever still runs. */
export async function withFrame<T>(dataSource: DataSource, runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  const frame: AmbientFrame = { dataSource, runner, parent: storage.getStore(), ended: false };
  try {
    return await storage.run(frame, work);
  } finally {
    frame.ended = true;
  }
}

/** Runs `work` as if no transaction were open around it. */
export function outsideTransaction<T>(work: () => T): T {
  return storage.run(undefined, work);
}
