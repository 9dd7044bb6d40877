import { join } from 'node:path';
import { connect, type Msg } from '@nats-io/transport-node';
import fastify from 'fastify';
import { runReference } from '../reference-process.js';
import { startReference } from '../reference.js';

/** Hands what comes over the broker to a worker that asks for it over HTTP, and its answer back. */
const [, , natsUrl = ''] = process.argv;
const connection = await connect({ servers: natsUrl });
const waiting: Msg[] = [];
const takers: ((job: Msg) => void)[] = [];
const running = new Map<string, Msg>();
let taken = 0;

connection.subscribe('job', {
  callback: (error, job) => {
    if (error !== null) throw error;
    const taker = takers.shift();
    if (taker === undefined) waiting.push(job);
    else taker(job);
  },
});

const app = fastify();
app.get('/take', async () => {
  const job = waiting.shift() ?? (await new Promise<Msg>((resolve) => takers.push(resolve)));
  taken += 1;
  const id = String(taken);
  running.set(id, job);
  return { id, ...job.json<object>() };
});
app.post<{ Params: { id: string } }>('/done/:id', async ({ body, params }) => {
  running.get(params.id)?.respond(JSON.stringify(body));
  running.delete(params.id);
  return {};
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
const worker = await startReference(join('sync', 'worker-reference.js'), [address]);

runReference(address, async () => {
  await worker.stop();
  await app.close();
  await connection.close();
});
