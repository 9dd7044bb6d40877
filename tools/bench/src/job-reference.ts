import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startNatsServer, makeTempFolder } from '@berth/servers';
import fastify from 'fastify';

/**
 * The least that a durable accept can be: one POST, parsed as JSON, published once to a stream that syncs before it
 * acknowledges. It runs in a process of its own, like the router.
 */
const folder = await makeTempFolder('berth-bench-reference-');
const server = await startNatsServer({ storeDir: folder.path });
const connection = await connect({ servers: server.url });
const manager = await jetstreamManager(connection);
await manager.streams.add({ name: 'ACCEPTED', subjects: ['accepted.>'] });
const publisher = jetstream(connection);

const app = fastify();
let accepted = 0;
app.post('/run', async (request) => {
  accepted += 1;
  await publisher.publish(`accepted.${accepted}`, JSON.stringify(request.body));
  return { id: String(accepted), status: 'IN_QUEUE' };
});
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ address });

process.on('disconnect', () => {
  void app
    .close()
    .then(() => connection.close())
    .then(() => server.stop())
    .then(() => folder.remove())
    .then(() => process.exit(0));
});
