import { resolve } from 'node:path';
import { StartedStack } from '@berth/dev-stack';
import { makeTempFolder, startPrometheus, type Prometheus, type ScrapeJob, type TempFolder } from '@berth/servers';
import { eventually } from '@berth/testing';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { makeBoards } from '../src/index.js';
import { ALERTS, readAlerts } from './alert-rules.js';
import { choiceIn, withoutVariables } from './asked.js';
import { AskedPrometheus } from './story/asked-prometheus.js';
import { EncryptedBroker } from './story/encrypted-broker.js';
import { TenantStory } from './story/tenant-story.js';

const IMAGES = resolve(import.meta.dirname, '../../dev-stack/test/workers');
const WAIT = { deadlineMs: 180_000, intervalMs: 1_000 };
const SETUP_MS = 600_000;
jest.setTimeout(300_000);

let stack: StartedStack;
let folder: TempFolder;
let encrypted: EncryptedBroker;
let prometheus: Prometheus;
let story: TenantStory;
let asked: AskedPrometheus;

beforeAll(async () => {
  const machine = ['--vcpus', '8', '--simulated-gpus', 'NVIDIA GeForce RTX 4090:2:12.4'];
  const flags = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--routers', '2'];
  stack = await StartedStack.start([...flags, ...machine]);
  // Before anything happens: what a counter has counted by the first look is no increase.
  folder = await makeTempFolder('berth-dashboards');
  encrypted = await EncryptedBroker.start(folder.path);
  const jobs = [...jobsOf(stack), { name: 'encrypted', targets: [encrypted.target] }];
  prometheus = await startPrometheus({ jobs, everySeconds: 1, ruleFiles: [ALERTS] });
  asked = new AskedPrometheus(prometheus.url);
  const up = 'count by (job) (up == 1)';
  await eventually(async () => expect(await asked.figuresOf(up)).toHaveLength(jobs.length), WAIT);
  story = await TenantStory.begin(stack);
}, SETUP_MS);

afterAll(async () => {
  story.end();
  await prometheus.stop();
  await encrypted.stop();
  await folder.remove();
  await stack.stop();
  await stack.remove();
}, SETUP_MS);

/** `job-router-2` is a router. */
function jobsOf({ dev }: StartedStack): readonly ScrapeJob[] {
  const byJob = Map.groupBy(Object.entries(dev.operations), ([name]) => name.replace(/-\d+$/, ''));
  return [...byJob].map(([name, each]) => ({ name, targets: each.map(([, url]) => new URL(url).host) }));
}

const PANELS = makeBoards().flatMap(({ panels = [], uid }) =>
  (panels as readonly Panel[]).flatMap(({ targets = [], title }) =>
    (targets as Dataquery[]).map(({ expr = '' }) => ({ panel: `${uid}: ${title}`, query: withoutVariables(expr) })),
  ),
);

/** Queries of panels that show nothing yet. */
async function emptyPanels(): Promise<readonly object[]> {
  const empty: object[] = [];
  for (const each of PANELS) {
    const figures = await asked.figuresOf(each.query);
    if (figures.length === 0) empty.push(each);
  }
  return empty;
}

test('every query of every panel has figures, once jobs and requests have come and gone', async () => {
  await eventually(async () => {
    expect(new Set(await story.goOn())).toEqual(new Set([200]));
    expect(await emptyPanels()).toEqual([]);
  }, WAIT);
  expect(await asked.figuresOf('sum(berth_router_endpoint_jobs_ended_total{outcome="FAILED"}) > 0')).toHaveLength(1);
});

test('the viewer of a dashboard has something to choose from', async () => {
  for (const { definition } of makeBoards().flatMap(({ templating }) => templating?.list ?? [])) {
    if (definition === undefined) continue;
    const { label, selector } = choiceIn(definition);
    expect(await asked.valuesOf(label, selector)).not.toEqual([]);
  }
});

test('every alert can be evaluated, and none is fired by a system that is well', async () => {
  const rules = await eventually(async () => {
    const found = await asked.rules();
    expect(found.filter(({ health }) => health === 'unknown')).toEqual([]);
    return found;
  }, WAIT);
  expect(rules.map(({ name }) => name)).toEqual(readAlerts().map(({ alert }) => alert));
  expect(rules.filter(({ health, state }) => health !== 'ok' || state === 'firing')).toEqual([]);
});
