import type { OutboxTableOptions } from '../../config/index.js';
import { resolveSchema, resolveTables } from '../../config/index.js';
import { outboxNames } from '../table-names.js';
import { outboxComponent } from './outbox-component.js';
import { type SchemaComponent, stepUp } from './schema-component.js';

export interface OutboxSchemaOptions {
  /** Default `public`. */
  readonly schema?: string;
  readonly tables?: OutboxTableOptions;
}

/** All tables of the producing side as one SQL text, for people who migrate with another tool. */
export function outboxSchemaSql(options: OutboxSchemaOptions = {}): string {
  return componentSql(outboxComponent(outboxNames(resolveSchema(options.schema), resolveTables(options.tables))));
}

export function componentSql(component: SchemaComponent): string {
  const statements = component.steps.flatMap((step) => [
    `-- ${component.name} ${step.version}: ${step.name}`,
    'begin',
    ...component.dialect.lock(component),
    ...stepUp(component, step),
    'commit',
  ]);
  return `${statements.map((text) => (text.startsWith('--') ? text : `${text};`)).join('\n')}\n`;
}
