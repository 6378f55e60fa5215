const MAX_CHARACTERS = 1000;
const MAX_CAUSES = 3;

/**
 * Text of anything that was thrown, fit for a `text` column and a log line: at most 1,000 characters, no NUL
 * (PostgreSQL refuses it with 22021), no lone surrogates, at most three causes deep. Never throws itself.
 */
export function describeError(thrown: unknown): string {
  const parts: string[] = [];
  let current = thrown;
  for (let depth = 0; depth < MAX_CAUSES && (depth === 0 || current !== undefined); depth += 1) {
    parts.push(describeOne(current));
    current = readProperty(current, 'cause');
  }
  return storableText(parts.join(': caused by '));
}

/** Makes any text storable: cut to 1,000 characters, NUL and lone surrogates replaced by U+FFFD. */
export function storableText(text: string): string {
  return text.slice(0, MAX_CHARACTERS).toWellFormed().replaceAll('\u0000', '\uFFFD');
}

function describeOne(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null) {
    const name = readText(thrown, 'name') ?? 'Error';
    const code = readText(thrown, 'code');
    const message = readText(thrown, 'message') ?? '(no message)';
    return `${name}${code === undefined ? '' : ` [${code}]`}: ${message}`;
  }
  return `thrown ${typeof thrown}: ${textOf(thrown)}`;
}

/** A thrown function may have a `toString` that throws itself. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown).slice(0, MAX_CHARACTERS);
  } catch {
    return '(no text)';
  }
}

function readText(holder: object, key: string): string | undefined {
  const value = readProperty(holder, key);
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_CHARACTERS) : undefined;
}

/** A thrown object may have getters that throw themselves; such a property counts as absent. */
function readProperty(holder: unknown, key: string): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined;
  try {
    return (holder as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}
