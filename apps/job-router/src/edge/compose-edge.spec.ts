import type { NoticeMessage } from '@berth/contracts';
import type { EndpointId, JobId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { named, requestOf, secretsOf } from '../../test/fixtures/edge-scene.js';
import { EndpointOwner } from '../../test/fixtures/endpoint-owner.js';
import { KeptBlobs } from '../../test/fixtures/kept-blobs.js';
import type { Platform } from '../platform/index.js';
import { composeEdge, type EdgeParts } from './compose-edge.js';

test('jobs, owners and watches stand on the parts that the process has opened', async () => {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  const owner = new EndpointOwner(() => clock.nowMs());
  const listeners: ((notice: NoticeMessage) => void)[] = [];
  const parts: EdgeParts = {
    incarnation: 'me',
    local: (_, verb, question) => {
      const answer = verb === 'perform' ? owner.perform((question as { command: never }).command) : null;
      return Promise.resolve({ kind: 'answer', answer: answer as never });
    },
    requests: { ask: () => Promise.resolve({ kind: 'no-responders' }) },
    blobs: new KeptBlobs() as never,
    chunks: {} as never,
    notices: { listen: (onNotice) => (listeners.push(onNotice), () => void listeners.pop()) },
  };
  const settings = { secrets: secretsOf(1) };
  const platform = {
    random: new SeededRandom(1),
    clock,
    metrics,
    logger: silentLogger,
    settings,
  } as unknown as Platform;
  const { jobs, owners, watches } = composeEdge(platform, parts);
  const { outcomes } = await jobs.submit(requestOf(2, { name: named() }));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
  expect(await owners.ask('ep' as EndpointId, 'find', { jobId: 'job' as JobId, watcher: null })).toBeNull();

  watches.start();
  const watch = jobs.watch({ endpointId: 'ep' as EndpointId, jobId: 'job' as JobId }, 'end');
  for (const listener of listeners) {
    listener({ endpointId: 'ep' as EndpointId, jobs: [{ jobId: 'job' as JobId, now: 'gone' }] });
  }
  expect(await watch.wait(1_000)).toBe(true);
  const told = await metrics.text();
  expect(told).toContain('berth_router_watching_callers 1');
  expect(told).toContain('berth_router_owner_questions_total{verb="perform",outcome="here"} 1');
  watch.dispose();
  watches.stop();
  expect(listeners).toEqual([]);
});
