import { join, resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { StartedStack, TenantClient } from '@berth/dev-stack';
import { pollUntil } from '@berth/servers';
import { createEndpoint } from './bench-endpoint.js';
import { print } from './figures.js';
import { readMetric } from './scale/vitals.js';

const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
const WORKERS = 4;
const BODIES = 8;
const LARGE_BYTES = 36 * 2 ** 20;
/** Below the largest output that is kept: it goes all the way to the store. */
const OUTPUT_BYTES = 19 * 2 ** 20;
const ENDED_WITHIN_MS = 300_000;
const LOOK_MS = 250;
const NS_PER_MS = 1e6;
const FINAL = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);

interface Flood {
  readonly what: string;
  readonly kind: string;
  readonly bytes: number;
  readonly isStream?: boolean;
}

const SMALL: Flood = { what: '1 KiB', kind: 'objects', bytes: 1_024 };
const FLOODS: readonly Flood[] = [
  { what: '36 MiB of tiny objects', kind: 'objects', bytes: LARGE_BYTES },
  { what: '36 MiB of NaN', kind: 'numbers', bytes: LARGE_BYTES },
  { what: '36 MiB of members of one name', kind: 'members', bytes: LARGE_BYTES },
  { what: '36 MiB of opened brackets', kind: 'depth', bytes: LARGE_BYTES },
  { what: '36 MiB of bytes that are no UTF-8', kind: 'bytes', bytes: LARGE_BYTES },
  { what: '19 MiB of output, tiny objects', kind: 'output', bytes: OUTPUT_BYTES },
  { what: '19 MiB of output, escapes', kind: 'escapes', bytes: OUTPUT_BYTES },
  { what: 'a chunk of 36 MiB of tiny objects', kind: 'output', bytes: LARGE_BYTES, isStream: true },
  { what: 'a chunk of 36 MiB of escapes', kind: 'escapes', bytes: LARGE_BYTES, isStream: true },
];

/**
 * How long the agent's event loop is away at most, while hostile workers post eight bodies at the same time; and beside
 * it that of this process, which has next to nothing to do: what the machine itself takes away.
 */
export async function benchBodies(): Promise<void> {
  print('  bodies: another stack is started …');
  const stack = await StartedStack.start(FLAGS);
  try {
    const client = new TenantClient(() => stack.dev);
    const workers = { min: WORKERS, max: WORKERS };
    const endpointId = await createEndpoint(client, 'bench-bodies', { workers, image: 'local/flood' });
    const post = (flood: Flood): Promise<Stalls> => stallUnder(stack, { client, endpointId, flood });
    // The first of each size compiles what it runs.
    await post(SMALL);
    await post({ ...SMALL, bytes: LARGE_BYTES });
    print(`largest delay of the agent's event loop, ${BODIES} bodies at a time from ${WORKERS} workers:`);
    for (const flood of [SMALL, ...FLOODS]) {
      const { agentMs, idleMs } = await post(flood);
      print(
        `  ${flood.what.padEnd(36)} ${agentMs.toFixed(0).padStart(5)} ms, of an idle process ${idleMs.toFixed(0)} ms`,
      );
    }
  } finally {
    await stack.stop();
    await stack.remove();
  }
}

interface Stalls {
  readonly agentMs: number;
  readonly idleMs: number;
}

interface FloodOf {
  readonly client: TenantClient;
  readonly endpointId: string;
  readonly flood: Flood;
}

async function stallUnder(stack: StartedStack, { client, endpointId, flood }: FloodOf): Promise<Stalls> {
  // Reading begins a new measurement.
  await readStallMs(stack);
  const idle = monitorEventLoopDelay();
  idle.enable();
  const { kind, bytes, isStream = false } = flood;
  const submit = () => client.job<{ id: string }>('POST', `/${endpointId}/run`, { input: { kind, bytes, isStream } });
  const answers = await Promise.all(Array.from({ length: BODIES }, submit));
  for (const { body } of answers) {
    const isEnded = async (): Promise<true | undefined> => {
      const { body: job } = await client.job<{ status: string }>('GET', `/${endpointId}/requests/${body.id}`);
      return FINAL.has(job.status) ? true : undefined;
    };
    await pollUntil(isEnded, { what: `the end of ${body.id}`, deadlineMs: ENDED_WITHIN_MS, intervalMs: LOOK_MS });
  }
  const agentMs = await readStallMs(stack);
  idle.disable();
  return { agentMs, idleMs: idle.max / NS_PER_MS };
}

async function readStallMs(stack: StartedStack): Promise<number> {
  const seconds = await readMetric(stack, 'worker-agent', 'berth_nodejs_eventloop_lag_max_seconds');
  if (seconds === null) throw new Error('the agent does not tell the delay of its event loop');
  return seconds * 1_000;
}
