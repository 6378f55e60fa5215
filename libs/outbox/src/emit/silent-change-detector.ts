import type { Logger } from '@nestjs/common';
import type { DataSource, EntitySubscriberInterface, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm';
import { logLine } from '../runtime/index.js';

/** The part of TypeORM's insert, update and remove events that is read here. */
interface ChangeEvent {
  readonly queryRunner: QueryRunner;
  readonly metadata: { readonly target: unknown; readonly name: string };
}

/**
 * Helps during development against the fault that an outbox cannot prevent: forgetting to emit. Warns when a
 * transaction changed rows of a watched entity and committed without an event. Sees what goes through TypeORM's
 * entities, not raw SQL. It never throws and never delays a transaction.
 */
export class SilentChangeDetector {
  private readonly changed = new WeakMap<QueryRunner, Set<string>>();
  private readonly emitted = new WeakSet<QueryRunner>();
  private readonly subscriber: EntitySubscriberInterface;

  constructor(
    private readonly dataSource: DataSource,
    watched: readonly EntityTarget<ObjectLiteral>[],
    private readonly logger: Logger,
  ) {
    const targets = new Set<unknown>(watched.map((entity) => dataSource.getMetadata(entity).target));
    const noteChange = ({ queryRunner, metadata }: ChangeEvent): void => {
      if (targets.has(metadata.target)) this.noteChanged(queryRunner, metadata.name);
    };
    this.subscriber = {
      afterInsert: noteChange,
      afterUpdate: noteChange,
      afterRemove: noteChange,
      afterTransactionCommit: ({ queryRunner }) => this.report(queryRunner),
      afterTransactionRollback: ({ queryRunner }) => this.forgetWhenOver(queryRunner),
    };
  }

  start(): void {
    this.dataSource.subscribers.push(this.subscriber);
  }

  noteEmitted(runner: QueryRunner): void {
    this.emitted.add(runner);
  }

  private noteChanged(runner: QueryRunner, entity: string): void {
    const entities = this.changed.get(runner);
    if (entities === undefined) this.changed.set(runner, new Set([entity]));
    else entities.add(entity);
  }

  private report(runner: QueryRunner): void {
    // True on the release of a savepoint: the transaction goes on and may still emit.
    if (runner.isTransactionActive) return;
    const entities = this.changed.get(runner);
    if (entities !== undefined && !this.emitted.has(runner)) {
      this.logger.warn(logLine('rows changed without an event', { entities: [...entities].join(', ') }));
    }
    this.forgetWhenOver(runner);
  }

  private forgetWhenOver(runner: QueryRunner): void {
    if (runner.isTransactionActive) return;
    this.changed.delete(runner);
    this.emitted.delete(runner);
  }
}
