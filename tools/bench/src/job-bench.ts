import { join } from 'node:path';
import { TenantClient, type StartedStack } from '@berth/dev-stack';
import { pollUntil } from '@berth/servers';
import { request } from 'undici';
import { createEndpoint, headersOf } from './bench-endpoint.js';
import { compare } from './compare.js';
import { sendMany, type LoadOptions } from './load.js';
import { startReference, type Reference } from './reference.js';

const ROUNDS = 5;
const SENDERS = 64;
const ACCEPTED = 3_000;
const READ = 3_000;
const HELD = 40;
/** Calls of each side before any is measured: until then a runtime still compiles what it runs. */
const WARM_UP = 20;
const ENDED_WITHIN_MS = 30_000;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });
const JSON_BODY = { 'content-type': 'application/json' };

/** Jobs: how many are accepted and read in a second, and how long a warm worker takes. */
export async function benchJobs(stack: StartedStack): Promise<void> {
  const client = new TenantClient(() => stack.dev);
  const warm = await createEndpoint(client, 'bench-warm', { workers: { min: 1, max: 1 } });
  const idle = await createEndpoint(client, 'bench-accept', { workers: { min: 0, max: 0 } });
  await benchHeld(stack, warm);
  const reference = await startReference('job-reference.js');
  await benchStatus(stack, reference, { endpointId: warm, status: 'COMPLETED' });
  await benchStatus(stack, reference, { endpointId: idle, status: 'IN_QUEUE' });
  await benchAccept(stack, reference, idle);
  await reference.stop();
}

async function benchHeld(stack: StartedStack, endpointId: string): Promise<void> {
  const reference = await startReference(join('sync', 'front-reference.js'));
  const hold = { method: 'POST', status: 200, concurrency: 1, requests: HELD, body: BODY } as const;
  const ours = call(stack, { ...hold, path: `/v2/${endpointId}/runsync` });
  const bare = { ...hold, origin: reference.address, path: '/runsync', headers: JSON_BODY };
  for (const side of [ours, bare]) await sendMany({ ...side, requests: WARM_UP });
  await compare({
    what: 'warm /runsync on node-echo, one after the other',
    reference: 'the same hops without a record',
    rounds: ROUNDS,
    ours: () => sendMany(ours),
    bare: () => sendMany(bare),
  });
  await reference.stop();
}

async function benchAccept(stack: StartedStack, reference: Reference, endpointId: string): Promise<void> {
  const accept = { method: 'POST', status: 200, concurrency: SENDERS, requests: ACCEPTED, body: BODY } as const;
  await compare({
    what: `/run accepted, ${SENDERS} under way`,
    reference: 'bare POST with one synced publish',
    rounds: ROUNDS,
    ours: () => sendMany(call(stack, { ...accept, path: `/v2/${endpointId}/run` })),
    bare: () => sendMany({ ...accept, origin: reference.address, path: '/run', headers: JSON_BODY }),
  });
}

interface JobInState {
  readonly endpointId: string;
  readonly status: 'COMPLETED' | 'IN_QUEUE';
}

async function benchStatus(stack: StartedStack, reference: Reference, { endpointId, status }: JobInState) {
  const id = await submit(stack.dev.runUrl, { path: `/v2/${endpointId}/run`, headers: headersOf(stack.dev.apiKey) });
  const path = `/v2/${endpointId}/status/${id}`;
  await untilStatus(call(stack, { method: 'GET', path }), status);
  const sizeBytes = await bodyBytes(call(stack, { path }));
  const bareId = await submit(reference.address, { path: '/run', headers: JSON_BODY, body: bodyOf(sizeBytes) });
  const read = { method: 'GET', status: 200, concurrency: SENDERS, requests: READ } as const;
  await compare({
    what: `/status of a job ${status}, ${SENDERS} under way`,
    reference: `bare GET of ${sizeBytes} bytes in memory`,
    rounds: ROUNDS,
    ours: () => sendMany(call(stack, { ...read, path })),
    bare: () => sendMany({ ...read, origin: reference.address, path: `/status/${bareId}`, headers: {} }),
  });
}

const call = <Shape>({ dev }: StartedStack, shape: Shape): Shape & Pick<LoadOptions, 'origin' | 'headers'> => ({
  ...shape,
  origin: dev.runUrl,
  headers: headersOf(dev.apiKey),
});

type Post = Pick<LoadOptions, 'path' | 'headers' | 'body'>;

async function submit(origin: string, { path, headers, body = BODY }: Post): Promise<string> {
  const answer = await request(`${origin}${path}`, { method: 'POST', headers, body });
  return ((await answer.body.json()) as { id: string }).id;
}

async function untilStatus({ origin, path, headers }: Omit<Post, 'body'> & { origin: string }, status: string) {
  const isThere = async (): Promise<true | undefined> => {
    const answer = await request(`${origin}${path}`, { headers });
    return ((await answer.body.json()) as { status: string }).status === status ? true : undefined;
  };
  await pollUntil(isThere, { what: `a job ${status}`, deadlineMs: ENDED_WITHIN_MS });
}

async function bodyBytes({ origin, path, headers }: Omit<Post, 'body'> & { origin: string }): Promise<number> {
  const answer = await request(`${origin}${path}`, { headers });
  return (await answer.body.arrayBuffer()).byteLength;
}

/** A JSON body of so many bytes. */
const bodyOf = (bytes: number): string => JSON.stringify({ input: 'x'.repeat(bytes - '{"input":""}'.length) });
