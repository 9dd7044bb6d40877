import { PlatformError, type JobKey, type RawJson } from '@berth/domain';
import { submitJob, takeTicket, type JobStore } from '@berth/jobs';
import { ConfigReader } from '@berth/lifecycle';
import { readSecretBox, type SecretBox } from '@berth/secrets';
import { silentLogger } from '@berth/telemetry';
import { BrokerModel, ManualClock, SeededRandom, freshKey, modelStore, openGate, sampleJob } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { sealExtras } from '../sealed-extras.js';
import { HandOut } from './hand-out.service.js';

const boxOf = (fill: number): SecretBox =>
  readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, fill).toString('base64') }));

function openStore(): JobStore {
  const clock = new ManualClock();
  const broker = new BrokerModel(() => clock.nowMs());
  return {
    ...modelStore(broker, openGate),
    stopSignals: { send: () => undefined },
    clock,
    random: new SeededRandom(1),
  };
}

/** A job with a secret, sealed with the first key, in the hands of a worker. */
async function takenJob(store: JobStore, key: JobKey) {
  const { extras, accountId } = sampleJob(key);
  const s3 = '{"s3Config":{"accessSecret":"hunter2"}}' as RawJson;
  await submitJob(store, key.jobId, {
    endpointId: key.endpointId,
    accountId,
    origin: 'run',
    input: '{}' as RawJson,
    extras,
    sealedExtras: sealExtras(boxOf(1), key, s3),
    reservation: null,
    webhook: null,
    executionTimeoutMs: 60_000,
    ttlMs: 3_600_000,
    retentionMs: 60_000,
    isLowPriority: false,
    traceparent: null,
  });
  const ticket = { ...key, attempt: 1, isLowPriority: false, notBeforeMs: 0 };
  const outcome = await takeTicket(store, ticket, { hostId: 'h' as never, workerId: 'w' as never });
  if (outcome.kind !== 'taken') throw new Error(outcome.kind);
  return outcome.job;
}

test('a job is handed out with what its caller gave in confidence', async () => {
  const store = openStore();
  const job = await takenJob(store, freshKey());
  const handOut = new HandOut({ store, secrets: boxOf(1), logger: silentLogger, onUnopened: () => undefined });
  const [handed] = await handOut.open([job]);
  expect(handed?.taken.extras).toBe('{"s3Config":{"accessSecret":"hunter2"}}');
});

test('one whose secret cannot be opened fails with the reason, once, and takes no other with it', async () => {
  const store = openStore();
  const [lost, fine] = [freshKey(), freshKey()];
  const jobs = [await takenJob(store, lost), { ...(await takenJob(store, fine)), sealedExtras: null }];
  let unopened = 0;
  const onUnopened = (): void => {
    unopened += 1;
  };
  const handOut = new HandOut({ store, secrets: boxOf(2), logger: silentLogger, onUnopened });
  expect((await handOut.open(jobs)).map(({ taken }) => taken.jobId)).toEqual([fine.jobId]);
  expect(unopened).toBe(1);
  const stored = await store.records.read(lost);
  expect(stored?.job).toMatchObject({ state: 'FAILED', error: expect.stringMatching(/^s3Config cannot be opened/) });
  expect(stored?.job.error).not.toContain('hunter2');
});

test('where the store does not answer either, the lease runs out by itself', async () => {
  const store = openStore();
  const job = await takenJob(store, freshKey());
  const dead = { ...store, records: { ...store.records, read: () => Promise.reject(unavailable) } };
  const unavailable = new PlatformError('service-unavailable', 'away');
  const handOut = new HandOut({ store: dead, secrets: boxOf(2), logger: silentLogger, onUnopened: () => undefined });
  expect(await handOut.open([job])).toEqual([]);
});
