import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MetricRegistry } from '@berth/telemetry';

const PAGE = resolve(import.meta.dirname, '../../../docs/metrics.md');
const ROW = /^\| `(?<name>berth_\w+)` +\| (?<type>counter|gauge|histogram) +\| (?<labels>[^|]*)\|/gm;
const SHOWN = /^# TYPE (?<name>\w+) (?<type>\w+)$/gm;
const SHOWN_LABELS = /^(?<name>\w+)\{(?<labels>[^}]*)\}/gm;

/** What whoever scrapes adds to each series. */
export const TARGET_LABELS = ['job', 'instance'] as const;

/** The labels of each series that there may be, by the name that queries use. */
export async function readCatalogue(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const all = new Map<string, ReadonlySet<string>>([['up', new Set()]]);
  for (const { groups } of readFileSync(PAGE, 'utf8').matchAll(ROW)) {
    const { labels = '', name = '', type } = groups ?? {};
    const own = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
    for (const [series, more] of seriesOf(name, type)) all.set(series, new Set([...own, ...more]));
  }
  for (const [name, labels] of await readProcessMetrics()) all.set(name, labels);
  return all;
}

const seriesOf = (name: string, type = ''): readonly (readonly [string, readonly string[]])[] =>
  type === 'histogram'
    ? [
        [`${name}_bucket`, ['le']],
        [`${name}_sum`, []],
        [`${name}_count`, []],
      ]
    : [[name, []]];

/** What each process has beside its own. */
async function readProcessMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const registry = new MetricRegistry();
  registry.collectProcess();
  const text = await registry.text();
  const labels = new Map<string, ReadonlySet<string>>();
  for (const { groups } of text.matchAll(SHOWN)) {
    for (const [series, more] of seriesOf(groups?.['name'] ?? '', groups?.['type'])) labels.set(series, new Set(more));
  }
  for (const { groups } of text.matchAll(SHOWN_LABELS)) {
    const names = [...(groups?.['labels'] ?? '').matchAll(/(\w+)="/g)].map(([, name = '']) => name);
    labels.set(groups?.['name'] ?? '', new Set(names));
  }
  return labels;
}
