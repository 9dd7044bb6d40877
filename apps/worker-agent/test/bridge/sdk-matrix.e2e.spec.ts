import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { PYTHON_SETUP_MS } from '@berth/testing/python';
import { FEATURES, FeatureBench, type Feature, type Finding } from './sdk-features.js';
import { prepareSdks } from './sdk-python.js';
import { TestAgent } from './test-agent.js';

const VERSIONS = ['1.6.2', '1.7.6', '1.9.1', '1.12.0'];
const HANDLERS = ['plain', 'crowd', 'stream', 'aggregate'] as const;
const NO_STOP_CHANNEL = 'no stop channel: its process is killed after 10 s';

/** What is known to differ, by feature and version; everything else works. */
const DIFFERENCES: Readonly<Record<string, Readonly<Record<string, Finding>>>> = {
  cancel: { '1.6.2': NO_STOP_CHANNEL, '1.7.6': NO_STOP_CHANNEL, '1.9.1': NO_STOP_CHANNEL },
  'concurrency-join': { '1.7.6': 'it starts when a running one has ended' },
};

/**
 * What this run found, for whoever writes the table of what works with which version: `versions` in order, `features`
 * each with its title and, by version, how it differs (empty: it works).
 */
const REPORT = fileURLToPath(new URL('../../../../.cache/sdk-matrix.json', import.meta.url));

const found = new Map<string, Map<string, Finding>>();
let agent: TestAgent;

const note = (feature: Feature, version: string, finding: Finding): void => {
  const row = found.get(feature.id) ?? new Map<string, Finding>();
  found.set(feature.id, row.set(version, finding));
};

async function writeReport(): Promise<void> {
  const features = FEATURES.map(({ id, title }) => ({ id, title, differs: Object.fromEntries(found.get(id) ?? []) }));
  await mkdir(dirname(REPORT), { recursive: true });
  await writeFile(`${REPORT}.part`, `${JSON.stringify({ versions: VERSIONS, features }, null, 2)}\n`);
  await rename(`${REPORT}.part`, REPORT);
}

const checks = new Map<string, Promise<Finding>>();
const benches: FeatureBench[] = [];
const nameOf = (feature: Feature, version: string): string => `${version} ${feature.id}`;

/** The features of one handler run one after the other in one process; all processes run side by side. */
function checkHandler(bench: FeatureBench, version: string, handler: Feature['handler']): void {
  let before: Promise<unknown> = Promise.resolve();
  for (const feature of FEATURES.filter((each) => each.handler === handler)) {
    const check = before.then(() => feature.check(bench));
    checks.set(nameOf(feature, version), check);
    before = check.catch(() => undefined);
  }
}

/** Resolves when all its processes have asked for a job: starting is what costs, most of the rest is waiting. */
async function startVersion(version: string): Promise<void> {
  const started = await Promise.all(HANDLERS.map((handler) => FeatureBench.start(agent, version, handler)));
  benches.push(...started);
  for (const [order, handler] of HANDLERS.entries()) {
    const bench = started[order];
    if (bench !== undefined) checkHandler(bench, version, handler);
  }
  await Promise.all(started.map((bench) => bench.ready()));
}

beforeAll(async () => {
  await prepareSdks(VERSIONS);
  agent = await TestAgent.start(systemClock);
  for (const version of VERSIONS) await startVersion(version);
  await Promise.allSettled(checks.values());
}, PYTHON_SETUP_MS);

afterAll(async () => {
  await Promise.all(benches.map(({ worker }) => worker.kill()));
  await writeReport();
  await agent.close();
});

describe.each(VERSIONS)('a worker with SDK %s', (version) => {
  test.each(FEATURES)('$title', async (feature) => {
    const finding = (await checks.get(nameOf(feature, version))) ?? 'not checked';
    note(feature, version, finding);
    expect(finding).toBe(DIFFERENCES[feature.id]?.[version] ?? '');
  });

  test('has no attempt of its jobs lost', () => {
    const ids = new Set(agent.eventsOf('job-started').map(({ jobId }) => jobId as string));
    expect(agent.router.losses.filter(({ jobId, isCharged }) => isCharged && ids.has(jobId))).toEqual([]);
  });
});
