/**
 * Names one set of tables within its schema.
 *
 * @param tables quoted and qualified with `schema`.
 * @param defaults quoted, in the same order; a set of these has no more than the component's name.
 */
export function componentKey(
  name: string,
  schema: string,
  tables: readonly string[],
  defaults: readonly string[],
): string {
  const unqualified = tables.map((table) => (table.startsWith(`${schema}.`) ? table.slice(schema.length + 1) : table));
  const isDefault = unqualified.every((table, index) => table === defaults[index]);
  return isDefault ? name : `${name} ${unqualified.join(' ')}`;
}
