import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { runReference } from '../reference-process.js';

/**
 * Hands the jobs of BullMQ to workers that ask for them over HTTP, and takes their answers, as the bridge of a host of ours
 * does: the workers are the very same program, in processes of their own. Nothing is checked, leased or kept.
 */
const [, , port = '', concurrency = '', workers = '', client = ''] = process.argv;
const WORKER = join(import.meta.dirname, '../../workers/echo/worker.mjs');

type Job = { readonly id: string; readonly text: string };
const waiting: Job[] = [];
const takers: ServerResponse[] = [];
const ends = new Map<string, (output: unknown) => void>();

const server = createServer((request, response) => {
  if (request.method === 'GET') take(response);
  else void end(request, response);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function take(response: ServerResponse): void {
  const job = waiting.shift();
  if (job !== undefined) return give(response, job);
  takers.push(response);
  response.once('close', () => {
    const at = takers.indexOf(response);
    if (at >= 0) takers.splice(at, 1);
  });
}

function give(response: ServerResponse, { text }: Job): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function end(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) text += piece as string;
  const id = /\/([^/?]+)\?/.exec(request.url ?? '')?.[1] ?? '';
  ends.get(id)?.(JSON.parse(text));
  ends.delete(id);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 });
  response.end('{}');
}

const queue = new Worker(
  'jobs',
  ({ data, id = '' }) =>
    new Promise((resolve) => {
      ends.set(id, resolve);
      const job = { id, text: JSON.stringify({ id, ...(data as object) }) };
      const taker = takers.shift();
      if (taker === undefined) waiting.push(job);
      else give(taker, job);
    }),
  {
    connection: new Redis({ port: Number(port), maxRetriesPerRequest: null }),
    concurrency: Number(concurrency),
  },
);
await queue.waitUntilReady();

const children = Array.from({ length: Number(workers) }, (_, at) =>
  spawn(process.execPath, [WORKER], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      RUNPOD_POD_ID: `w${at}`,
      RUNPOD_WEBHOOK_GET_JOB: `${address}/job-take/$ID?`,
      RUNPOD_WEBHOOK_POST_OUTPUT: `${address}/job-done/$RUNPOD_POD_ID/$ID?`,
      RUNPOD_AI_API_KEY: 'bench',
      ECHO_SLOTS: String(Number(concurrency) / Number(workers)),
      ECHO_CLIENT: client,
    },
  }),
);

runReference(address, async () => {
  await queue.close(true);
  for (const child of children) child.kill('SIGKILL');
  server.closeAllConnections();
  server.close();
});
