import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../docs/pages.js';
import { startChild } from '../support/child-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { exposedIn, type MetricUse, usesOf, wordsOf } from './promql.js';

const read = (file: string): string => readFileSync(join(ROOT, 'docs/operations', file), 'utf8');
const program = (app: string): URL => new URL(`../../apps/${app}/dist/main.js`, import.meta.url);

interface Rule {
  readonly alert?: string;
  readonly expr?: string;
  readonly for?: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly description?: string };
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules = (parse(read('alerts.rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string }[] };
};

describe('the files for operations, beside the sample applications at work', () => {
  let exposed: Map<string, Set<string>>;
  let texts: string;
  const databases: TestDatabase[] = [];
  const end: (() => Promise<void>)[] = [];

  /** One destination takes its events, the other one cannot be reached. */
  beforeAll(async () => {
    databases.push(await createTestDatabase(), await createTestDatabase());
    const [orders, shipping] = databases as [TestDatabase, TestDatabase]; // both just made
    const start = async (app: string, env: Record<string, string>): Promise<string> => {
      const child = startChild(program(app), { env: { MIGRATIONS: 'run', PORT: '0', ROLE: '', ...env } });
      end.push(() => child.kill('SIGTERM'));
      return (await child.waitForLine(/ listens on /, 30_000)).split(' ').at(-1) ?? '';
    };
    const shippingUrl = await start('shipping', { DATABASE_URL: shipping.url });
    const ordersUrl = await start('orders', {
      DATABASE_URL: orders.url,
      SHIPPING_URL: `${shippingUrl}/events/shipping`,
      INVENTORY_URL: 'http://127.0.0.1:1/events/inventory',
    });
    const placed = await fetch(`${ordersUrl}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sku: 'TEA-1', quantity: 2, amountCents: 900 }),
    });
    expect(placed.status).toBe(201);
    await eventually(async () => {
      const scraped = await Promise.all([ordersUrl, shippingUrl].map((url) => fetch(`${url}/metrics`)));
      texts = (await Promise.all(scraped.map((response) => response.text()))).join('\n');
      expect(texts).toMatch(/^outbox_emitted_events_total\{.*\} 1$/m);
      expect(texts).toMatch(/^outbox_delivery_attempts_total\{.*"shipping".*"delivered".*\} 1$/m);
      expect(texts).toMatch(/^messaging_client_sent_messages_total\{.*"inventory".*error_type="unreachable".*\} \d+$/m);
      expect(texts).toMatch(/^inbox_messages_total\{.*"shipping".*"processed".*\} 1$/m);
    });
    exposed = exposedIn(texts);
  }, 90_000);
  afterAll(async () => {
    await Promise.all(end.map((stop) => stop()));
    await Promise.all(databases.map((database) => database.drop()));
  });

  /** What is named and not exposed, as `metric` or `metric{label}`. */
  const missing = (uses: readonly MetricUse[]): string[] =>
    uses.flatMap(({ metric, labels }) => {
      const known = exposed.get(metric);
      if (known === undefined) return [metric];
      return labels.filter((label) => !known.has(label)).map((label) => `${metric}{${label}}`);
    });

  it('every alert asks for metrics and labels that there are', () => {
    expect(rules.length).toBeGreaterThan(9);
    for (const { alert, expr = '' } of rules) {
      expect(usesOf(expr), alert).not.toEqual([]);
      expect(missing(usesOf(expr)), alert).toEqual([]);
    }
  });

  it('every alert has a name of its own, a severity and a reason, which names labels that its expression keeps', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr = '', labels, annotations, ...rest } of rules) {
      expect(['page', 'ticket'], alert).toContain(labels?.severity);
      expect(rest.for ?? '1m', alert).toMatch(/^\d+[smh]$/);
      const texts = [annotations?.summary, annotations?.description];
      for (const text of texts) {
        expect(text, alert).toBeTruthy();
        for (const [, label = ''] of (text ?? '').matchAll(/\$labels\.(\w+)/g))
          expect(wordsOf(expr), alert).toContain(label);
      }
    }
  });

  it('every panel of the dashboard asks for metrics and labels that there are', () => {
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(panels.length).toBeGreaterThan(9);
    for (const { title, targets = [] } of panels) {
      expect(targets, title).not.toEqual([]);
      for (const { expr, legendFormat } of targets) {
        expect(missing(usesOf(expr)), title).toEqual([]);
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(wordsOf(expr), title).toContain(label);
      }
    }
  });

  it('every variable of the dashboard that is asked of Prometheus finds values', () => {
    const queries = dashboard.templating.list.filter(({ type }) => type === 'query');
    expect(queries.map(({ name }) => name)).toEqual(['destination']);
    for (const { query } of queries) {
      const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
      expect(missing([{ metric, labels: [label] }])).toEqual([]);
    }
  });

  it('the page lists the metrics that there are, with kind, unit and attributes, and no other', () => {
    const documented = [...read('telemetry.md').matchAll(/^\| `([\w.]+)` +\| (\w+) +\| `([^`]+)` +\| (.*?) +\|/gm)].map(
      ([, name = '', kind, unit, attributes = '']) => ({
        ...{ name: prometheusName(name, kind), kind, unit },
        labels: [...attributes.matchAll(/`([\w.]+)`/g)].map(([, label = '']) => label.replaceAll('.', '_')).sort(),
      }),
    );
    const ignored = new Set(['le', 'otel_scope_name', 'messaging_system', ...OPERATION]);
    const found = [...texts.matchAll(/^# UNIT (\w+) (\S+)\n# TYPE \w+ (\w+)$/gm)].map(([, name = '', unit, kind]) => ({
      ...{ name, kind, unit },
      labels: [...(exposed.get(kind === 'histogram' ? `${name}_count` : name) ?? [])].filter(
        (label) => !ignored.has(label),
      ),
    }));
    const names = (metrics: readonly { name: string }[]): string[] =>
      [...new Set(metrics.map(({ name }) => name))].sort();
    expect(names(documented)).toEqual(names(found));
    for (const { labels, ...metric } of found) {
      const row = documented.find(({ name }) => name === metric.name);
      expect(row).toMatchObject(metric);
      // An error's type is there only where something failed.
      expect(row?.labels.filter((label) => labels.includes(label) || label !== 'error_type')).toEqual(
        labels.toSorted(),
      );
    }
  });
});

const OPERATION = ['messaging_operation_name', 'messaging_operation_type'];

function prometheusName(name: string, kind: string | undefined): string {
  return `${name.replaceAll('.', '_')}${kind === 'counter' ? '_total' : ''}`;
}
