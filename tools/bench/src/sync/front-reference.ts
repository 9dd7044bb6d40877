import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { makeTempFolder, startNatsServer } from '@berth/servers';
import fastify from 'fastify';
import { runReference } from '../reference-process.js';
import { startReference } from '../reference.js';

/**
 * The least that a held job can be, over the same hops as ours: a POST here, a request over the broker to the bridge
 * beside the worker, which the worker asks and answers over HTTP. Nothing is stored, leased, checked or told.
 */
const ANSWER_WITHIN_MS = 30_000;
const folder = await makeTempFolder('berth-bench-sync-');
const server = await startNatsServer({ storeDir: folder.path });
const connection = await connect({ servers: server.url });
const bridge = await startReference(join('sync', 'bridge-reference.js'), [server.url]);

const app = fastify();
app.post('/runsync', async (request, reply) => {
  const answer = await connection.request('job', JSON.stringify(request.body), { timeout: ANSWER_WITHIN_MS });
  return reply.type('application/json').send(answer.data);
});

runReference(await app.listen({ host: '127.0.0.1', port: 0 }), async () => {
  await app.close();
  await bridge.stop();
  await connection.close();
  await server.stop();
  await folder.remove();
});
