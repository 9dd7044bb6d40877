import { PlatformError, type JobId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { expect, test } from '@jest/globals';
import type { ItemOutcome } from '../edge/index.js';
import type { IncomingRequest } from '../jobs/index.js';
import { batchMetrics } from './metrics.js';
import { RunBatch } from './run-batch.js';

const incoming = { endpoint: { id: 'ep' } } as IncomingRequest;

const accepted = (id: string): ItemOutcome => ({ kind: 'accepted', id: id as JobId });
const failed = (error: unknown): ItemOutcome => ({ kind: 'failed', error });
const away = new PlatformError('service-unavailable', 'The job store does not answer at the moment; try again.');

const answerTo = (outcomes: readonly ItemOutcome[]): Promise<string> =>
  new RunBatch({
    intake: { runBatch: () => Promise.resolve(outcomes) },
    rates: { countMore: () => undefined },
    docsUrl: 'https://docs.example',
    metrics: batchMetrics(new MetricRegistry()),
    logger: silentLogger,
  }).run(incoming);

test('says of each request what became of it, in order', async () => {
  const answer = await answerTo([accepted('a'), failed(away), failed(new Error('a secret of ours')), accepted('b')]);
  expect(JSON.parse(answer)).toEqual({
    jobs: [
      { id: 'a', status: 'IN_QUEUE' },
      {
        error: {
          type: 'https://docs.example/problems/service-unavailable',
          title: 'Service unavailable',
          detail: 'The job store does not answer at the moment; try again.',
        },
      },
      {
        error: {
          type: 'https://docs.example/problems/internal-error',
          title: 'Internal error',
          detail: expect.stringMatching(/^Something failed on our side/),
        },
      },
      { id: 'b', status: 'IN_QUEUE' },
    ],
    accepted: 2,
    rejected: 2,
  });
});

test('is refused as a whole where nothing was accepted', async () => {
  await expect(answerTo([failed(away), failed(away)])).rejects.toBe(away);
});
