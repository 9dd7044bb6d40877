import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { makeBoards } from '../src/index.js';
import { readAlertCases, readAlerts } from './alert-rules.js';
import { askedIn, choiceIn } from './asked.js';
import { TARGET_LABELS, readCatalogue } from './catalogue.js';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const boards = makeBoards().map((board) => ({ name: board.uid ?? '', board }));
const alerts = readAlerts();
let catalogue: Awaited<ReturnType<typeof readCatalogue>>;
beforeAll(async () => {
  catalogue = await readCatalogue();
});

/** What a query asks for that nothing shows. */
function unknownIn(query: string, legend = ''): readonly string[] {
  const { labels, metrics } = askedIn(query);
  const labelsOf = (name: string): ReadonlySet<string> => new Set([...(catalogue.get(name) ?? []), ...TARGET_LABELS]);
  const all = new Set(metrics.flatMap(({ name }) => [...labelsOf(name)]));
  const told = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
  return [
    ...metrics.filter(({ name }) => !catalogue.has(name)).map(({ name }) => name),
    ...metrics.flatMap(({ labels: own, name }) =>
      own.filter((label) => !labelsOf(name).has(label)).map((label) => `${label} of ${name}`),
    ),
    ...[...labels, ...told].filter((label) => !all.has(label)),
  ];
}

describe('what a query asks for', () => {
  test('is told by its metrics, the labels of each, and those it sums by', () => {
    expect(askedIn('sum by (a) (rate(m_total{b="1",c=~"$d"}[$__rate_interval])) / on (e) max(n)')).toEqual({
      metrics: [
        { name: 'm_total', labels: ['b', 'c'] },
        { name: 'n', labels: [] },
      ],
      labels: ['a', 'e'],
    });
    expect(() => askedIn('sum(m{')).toThrow('no query');
    expect(() => askedIn('{b="1"}')).toThrow('without a name');
  });

  test('is said where there is no such metric or label', () => {
    expect(unknownIn('sum(berth_router_job_delay_seconds)')).toEqual(['berth_router_job_delay_seconds']);
    expect(unknownIn('sum by (le) (berth_router_job_delay_seconds_bucket)')).toEqual([]);
    expect(unknownIn('sum by (le) (berth_router_job_delay_seconds_count)')).toEqual(['le']);
    expect(unknownIn('berth_controllers_gpus{kind="busy"}', '{{usage}}')).toEqual([
      'kind of berth_controllers_gpus',
      'usage',
    ]);
  });
});

describe.each(boards)('the dashboard $name', ({ board, name }) => {
  const panels = (board.panels ?? []) as readonly Panel[];

  test('asks for metrics and labels that there are', () => {
    for (const { targets = [], title } of panels) {
      for (const { expr = '', legendFormat } of targets as Dataquery[]) {
        expect({ title, unknown: unknownIn(expr, legendFormat) }).toEqual({ title, unknown: [] });
      }
    }
    for (const { definition, query } of board.templating?.list ?? []) {
      if (definition === undefined) continue;
      const { label, metrics } = choiceIn(definition);
      expect(query).toBe(definition);
      for (const metric of metrics) expect(catalogue.get(metric)).toContain(label);
    }
  });

  test('explains each of its panels, and names no panel twice', () => {
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    expect(panels.filter(({ description, targets = [] }) => !description || targets.length === 0)).toEqual([]);
    expect(panels.map(({ id }) => id)).toEqual(panels.map((_, index) => index + 1));
    expect(name).toMatch(/^berth-[a-z-]+$/);
  });
});

describe.each(alerts)('the alert $alert', ({ alert, annotations, expr }) => {
  test('asks for metrics and labels that there are', () => {
    expect(unknownIn(expr)).toEqual([]);
  });

  test('has a runbook', () => {
    expect(annotations.runbook).toMatch(/^docs\/runbooks\/[a-z-]+\.md$/);
    expect(existsSync(resolve(REPOSITORY, annotations.runbook))).toBe(true);
  });

  test('is tried both where it fires and where it does not', () => {
    const tries = readAlertCases()
      .flatMap((each) => each.alert_rule_test)
      .filter(({ alertname }) => alertname === alert)
      .map(({ exp_alerts: fired = [] }) => fired.length > 0);
    expect(tries).toContain(true);
    expect(tries).toContain(false);
  });
});

test('there is no runbook without an alert', () => {
  const pages = readdirSync(resolve(REPOSITORY, 'docs/runbooks')).map((name) => `docs/runbooks/${name}`);
  expect(new Set(alerts.map(({ annotations }) => annotations.runbook))).toEqual(new Set(pages));
});
