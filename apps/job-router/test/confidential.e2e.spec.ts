import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench();

const SECRET = 'hunter2-of-the-bucket';
const S3 = `{ "accessId":"id", "accessSecret" : "${SECRET}",\t"bucketName":"b", "objectPath":"p", "n":1.0 }`;
const BODY = `{"input":{"a":1},"s3Config":${S3},"other":[1, 2]}`;

/** Every message of every stream, headers and all. */
async function everything(): Promise<string> {
  const connection = await bench.nats.connect();
  const manager = await jetstreamManager(connection, { timeout: 60_000 });
  const parts: string[] = [];
  for await (const { config, state } of manager.streams.list()) {
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(config.name, { seq }).catch(() => null);
      if (message !== null) parts.push(message.string(), JSON.stringify([...message.header]));
    }
  }
  await connection.close();
  return parts.join('\n');
}

describe('s3Config', () => {
  test('reaches the worker as it came, and is nowhere else', async () => {
    const { client, agent, endpointId } = await bench.scene();
    const { body } = await client.post('/run', BODY);
    const id = body.id as string;
    const waiting = (await client.status(id)).text;
    const job = await agent.takeOne();
    expect(job.extras).toBe(`{"other":[1, 2],"s3Config":${S3}}`);
    await agent.complete(job, 'done');
    await eventually(async () => expect((await client.status(id)).body.status).toBe('COMPLETED'));
    const metrics = await fetch(`http://127.0.0.1:${bench.router.operationsPort}/metrics`);
    const answers = await Promise.all([
      client.status(id),
      client.call(`/stream/${id}`),
      client.call('/health'),
      client.call('/requests'),
    ]);
    const shown = [waiting, ...answers.map(({ text }) => text), await metrics.text()];
    expect(shown.join('\n')).not.toContain(SECRET);
    const stored = await everything();
    expect(stored).toContain(id);
    expect(stored).toContain(endpointId);
    expect(stored).not.toContain(SECRET);
  });

  test('is in no refusal', async () => {
    const { client } = await bench.scene();
    const refusals = await Promise.all([
      client.post('/run', `{"input":{},"s3Config":{"accessSecret":"${SECRET}" "x"}}`),
      client.post('/run', `{"input":{},"s3Config":{"accessId":["${SECRET}"]}}`),
      client.post('/run', `{"input":1,"s3Config":"${SECRET}"}`),
      client.post('/run-batch', `{"requests":[{"input":1,"s3Config":"${SECRET}"}]}`),
    ]);
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect(refusals.map(({ text }) => text).join('\n')).not.toContain(SECRET);
  });

  test('goes with the job to its next attempt', async () => {
    const { client, agent } = await bench.scene();
    await client.post('/run', BODY);
    const first = await agent.takeOne();
    await agent.done(first, { kind: 'lost', reason: 'r', isCharged: false, logTail: [] });
    expect((await agent.takeOne()).extras).toBe(first.extras);
  });
});
