import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startNatsServer, makeTempFolder } from '@berth/servers';
import fastify from 'fastify';
import { runReference } from './reference-process.js';

/**
 * The least that a durable accept can be: one POST, parsed as JSON, published once to a stream that syncs before it
 * acknowledges. And the least that a status can be: one GET, answered with what was posted, out of memory. It runs in a
 * process of its own, like the router.
 */
const folder = await makeTempFolder('berth-bench-reference-');
const server = await startNatsServer({ storeDir: folder.path });
const connection = await connect({ servers: server.url });
const manager = await jetstreamManager(connection);
await manager.streams.add({ name: 'ACCEPTED', subjects: ['accepted.>'] });
const publisher = jetstream(connection);

const app = fastify();
const posted: string[] = [];
app.post('/run', async (request) => {
  const body = JSON.stringify(request.body);
  const id = String(posted.push(body) - 1);
  await publisher.publish(`accepted.${id}`, body);
  return { id, status: 'IN_QUEUE' };
});
app.get<{ Params: { id: string } }>('/status/:id', async ({ params }, reply) =>
  reply.type('application/json').send(posted[Number(params.id)]),
);

runReference(await app.listen({ host: '127.0.0.1', port: 0 }), async () => {
  await app.close();
  await connection.close();
  await server.stop();
  await folder.remove();
});
