/** A metric as an expression uses it, with the labels that it needs there. */
export interface MetricUse {
  readonly metric: string;
  readonly labels: readonly string[];
}

const KEYWORDS = new Set([
  'and',
  'or',
  'unless',
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'bool',
  'offset',
]);
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;

/**
 * Which metrics and labels an expression of PromQL names; no more of the language than the files here use. A label by
 * which something is grouped is needed of every metric of the expression.
 */
export function usesOf(expression: string): MetricUse[] {
  const bare = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\[[^\]]*\]/g, '');
  const grouped = [...bare.matchAll(GROUPING)].flatMap(([, labels = '']) => wordsOf(labels));
  const uses: MetricUse[] = [];
  const withoutGrouping = bare.replace(GROUPING, ' ');
  for (const [, metric = '', after, selector = ''] of withoutGrouping.matchAll(
    /(?<![\w.:])([a-zA-Z_:][\w:]*)\s*(?:(\()|\{([^}]*)\})?/g,
  )) {
    if (after === '(' || KEYWORDS.has(metric)) continue;
    const selected = [...selector.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    uses.push({ metric, labels: [...new Set([...selected, ...grouped])] });
  }
  return uses;
}

/** Metrics of Prometheus text, each with the labels that any of its series has. */
export function exposedIn(text: string): Map<string, Set<string>> {
  const exposed = new Map<string, Set<string>>();
  for (const [, metric = '', labels = ''] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const known = exposed.get(metric) ?? new Set<string>();
    for (const [, label = ''] of labels.matchAll(/([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g)) known.add(label);
    exposed.set(metric, known);
  }
  return exposed;
}

export function wordsOf(text: string): string[] {
  return text.match(/[a-zA-Z_]\w*/g) ?? [];
}
