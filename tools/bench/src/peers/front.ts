import fastify from 'fastify';
import { runReference } from '../reference-process.js';

/** What stands behind the front of a peer: a queue and what works it off. */
export interface PeerQueue {
  /** Resolves when the job is as safe as the peer makes it. Returns its id. */
  add(body: unknown): Promise<string>;
  /** Jobs that have ended. */
  completed(): Promise<number>;
  close(): Promise<void>;
}

/** The same front for every peer: `POST /run` and `GET /completed`, in the process that was forked for it. */
export async function serveFront(queue: PeerQueue): Promise<void> {
  const app = fastify();
  app.post('/run', async (request) => ({ id: await queue.add(request.body), status: 'IN_QUEUE' }));
  app.get('/completed', async () => ({ completed: await queue.completed() }));
  runReference(await app.listen({ host: '127.0.0.1', port: 0 }), async () => {
    await app.close();
    await queue.close();
  });
}
