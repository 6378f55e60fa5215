import { createHash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { resolveSchema, resolveTables } from '../../config/index.js';
import { outboxNames } from '../table-names.js';
import { applyStep, revertStep } from './apply-step.js';
import { outboxComponent } from './outbox-component.js';
import { hasDefaultNames, type SchemaComponent, type SchemaStep } from './schema-component.js';
import type { OutboxSchemaOptions } from './schema-sql.js';

export type MigrationClass = new () => MigrationInterface;

/** Steps sort by this time stamp in TypeORM's history; step n of a component is n seconds after it. */
const FIRST_TIMESTAMP = { outbox: 1_764_400_000_000, inbox: 1_764_410_000_000 } as const;

/** Migration classes for the `migrations` of a DataSource, one for each version of the producing side's tables. */
export function outboxMigrations(options: OutboxSchemaOptions = {}): MigrationClass[] {
  return componentMigrations(
    outboxComponent(outboxNames(resolveSchema(options.schema), resolveTables(options.tables))),
  );
}

export function componentMigrations(component: SchemaComponent): MigrationClass[] {
  return component.steps.map((step) => migrationClass(component, step));
}

function migrationClass(component: SchemaComponent, step: SchemaStep): MigrationClass {
  const timestamp = FIRST_TIMESTAMP[component.name] + step.version * 1000;
  const words = `${component.name}-${step.name}`.split('-');
  const title = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const name = `${title}${placeOf(component)}${timestamp}`;
  return class implements MigrationInterface {
    readonly name = name;
    up(runner: QueryRunner): Promise<void> {
      return applyStep(runner, component, step);
    }
    down(runner: QueryRunner): Promise<void> {
      return revertStep(runner, component, step);
    }
  };
}

/**
 * TypeORM knows a migration by its name, and refuses or skips a second one of the same: each set of tables but the
 * default one has its own.
 */
function placeOf(component: SchemaComponent): string {
  if (hasDefaultNames(component)) return '';
  return `_${createHash('sha256').update(`${component.schema} ${component.key}`).digest('hex').slice(0, 8)}_`;
}
