import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NoticeMessage } from '@berth/contracts';
import type { EndpointId, JobId } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { named, requestOf, secretsOf } from '../../test/fixtures/edge-scene.js';
import { EndpointOwner } from '../../test/fixtures/endpoint-owner.js';
import { KeptBlobs } from '../../test/fixtures/kept-blobs.js';
import { Jobs } from './jobs.port.js';
import { Owners } from '../owners/owners.port.js';
import { Platform } from '../platform/platform.js';
import { EdgeModule, EdgeParts } from './edge.module.js';
import { JobWatches } from './job-watches.js';

test('the rooms of a router find jobs, owners and watches over the parts that the process has opened', async () => {
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
  const platform = { random: new SeededRandom(1), clock, metrics, logger: {}, settings: { secrets: secretsOf(1) } };
  const ports = [
    { provide: Platform, useValue: platform },
    { provide: EdgeParts, useValue: parts },
  ];
  @Module({ providers: ports, exports: ports })
  class PlatformModule {}
  @Module({ imports: [{ module: PlatformModule, global: true }, EdgeModule] })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const [jobs, owners, watches] = [app.get(Jobs), app.get(Owners), app.get(JobWatches)];
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
  expect(told).toContain('router_watches 1');
  expect(told).toContain('router_owner_questions_total{verb="perform",outcome="here"} 1');
  watch.dispose();
  watches.stop();
  expect(listeners).toEqual([]);
  await app.close();
});
