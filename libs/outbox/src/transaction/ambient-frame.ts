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

/** A frame inside those that are open now. Whoever opens it sets `ended` when the transaction is over. */
export function openFrame(dataSource: DataSource, runner: QueryRunner): AmbientFrame {
  return { dataSource, runner, parent: storage.getStore(), ended: false };
}

export function runInFrame<T>(frame: AmbientFrame, work: () => T): T {
  return storage.run(frame, work);
}

/** Runs `work` as if no transaction were open around it. */
export function outsideTransaction<T>(work: () => T): T {
  return storage.run(undefined, work);
}
