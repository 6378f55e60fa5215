import { latestVersion, type SchemaComponent, type SchemaVersion } from '../../../store/index.js';
import { ok, problem, type Verdict, warning } from '../finding.js';

export function schemaVerdict(component: SchemaComponent, { version, compatibleFrom }: SchemaVersion): Verdict {
  const known = latestVersion(component);
  const have = `the ${component.name} tables in schema ${component.schema} have version ${version}`;
  if (version === known) return ok(`${have}, which is what this library needs`);
  const migrate = 'Run `outbox migrate`, or the migrations of the DataSource.';
  if (version === 0) return problem(`the ${component.name} tables in schema ${component.schema} are missing`, migrate);
  if (version < known) return problem(`${have}, this library needs ${known}`, migrate);
  if (compatibleFrom > known) {
    return problem(`${have}, this library knows only up to ${known}`, 'Install the version that migrated them.');
  }
  return warning(
    `${have}; this library knows ${known} and can work with them`,
    'Install the version that migrated them.',
  );
}
