import { latestVersion, migrate, readVersion, type SchemaComponent } from '../../store/index.js';
import type { Answer } from '../answer.js';
import { approved, type ChangeOptions } from '../approve.js';
import { addCommand, type Call, type Shelf, withChange } from '../command.js';

interface MigrateOptions extends ChangeOptions {
  readonly inbox?: boolean;
}

interface Pending {
  readonly component: SchemaComponent;
  readonly version: number;
  readonly steps: readonly string[];
}

export function addMigrate(shelf: Shelf): void {
  withChange(
    addCommand(shelf, shelf.program, 'migrate', 'bring the tables of the configuration to the newest version', work),
  ).option('--inbox', 'the table of the inbox too, where no configuration says so');
}

async function work({ session, options, terminal }: Call<MigrateOptions>): Promise<Answer> {
  const dataSource = await session.dataSource();
  const pending: Pending[] = [];
  for (const component of await session.components(options.inbox === true)) {
    const { version } = await readVersion(dataSource, component);
    const steps = component.steps
      .filter((step) => step.version > version)
      .map(({ version: to, name }) => `${to} ${name}`);
    pending.push({ component, version, steps });
  }
  const behind = pending.filter(({ steps }) => steps.length > 0);
  const data = { components: pending.map(described) };
  if (behind.length === 0) return { data, text: 'The tables are up to date.' };
  const says = behind.map(
    ({ component, steps }) =>
      `Apply to the ${component.name} tables in schema ${component.schema}: ${steps.join(', ')}.`,
  );
  return approved({ says: says.join('\n'), data }, options, terminal, async () => {
    for (const { component } of behind) await migrate(dataSource, component);
    return { data, text: behind.map(done).join('\n') };
  });
}

function described({ component, version, steps }: Pending): object {
  return { name: component.name, schema: component.schema, from: version, to: latestVersion(component), steps };
}

function done({ component, version }: Pending): string {
  return `The ${component.name} tables went from version ${version} to ${latestVersion(component)}.`;
}
