import { PlatformError, encodeJson, toRawJson, type RawJson } from '@berth/domain';
import { BrokerModel, freshKey, modelStore, openGate, runningJob } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { webhookBody } from './webhook-body.js';

const store = modelStore(new BrokerModel(() => 0), openGate);
const key = freshKey();
const input = toRawJson('{ "n": 9007199254740993, "b":1.0, "a":"é" }');
const job = runningJob(key, {
  state: 'COMPLETED',
  webhook: 'https://example.com/?a="b"',
  input: { kind: 'inline', json: input },
});
const status = '{"id":"x","status":"COMPLETED","output":{ "z":1.0 }}' as RawJson;

test('is the body of /status, and behind it input and webhook, as they came', async () => {
  const body = await webhookBody({ store, statusBody: async () => status }, job);
  expect(body?.toString('utf8')).toBe(
    `{"id":"x","status":"COMPLETED","output":{ "z":1.0 },"input":${input},"webhook":${encodeJson(job.webhook)}}`,
  );
});

test('a large input comes from its parts', async () => {
  const text = JSON.stringify({ text: 'é'.repeat(600_000) });
  const manifest = await store.blobs.write(key, { name: 'in', bytes: Buffer.from(text) }, 60_000);
  const large = { ...job, input: { kind: 'blob', manifest } } as const;
  const body = await webhookBody({ store, statusBody: async () => status }, large);
  expect(JSON.parse(body?.toString('utf8') ?? '')).toHaveProperty('input', JSON.parse(text));
});

test('nothing is told in part: without the input, or the output, there is no body', async () => {
  const manifest = { name: 'gone', parts: 1, sizeBytes: 1, sha256: '0' };
  const inputGone = { ...job, input: { kind: 'blob', manifest } } as const;
  expect(await webhookBody({ store, statusBody: async () => status }, inputGone)).toBeNull();
  const outputGone = () => Promise.reject(new PlatformError('job-not-found', 'gone'));
  expect(await webhookBody({ store, statusBody: outputGone }, job)).toBeNull();
  const away = () => Promise.reject(new PlatformError('service-unavailable', 'away'));
  await expect(webhookBody({ store, statusBody: away }, job)).rejects.toThrow('away');
});
