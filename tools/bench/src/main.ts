import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { StartedStack, TenantClient } from '@berth/dev-stack';
import { median, percentile, postMany, type LoadResult } from './load.js';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const ROUNDS = 5;
const ACCEPT = { concurrency: 64, requests: 3_000 } as const;
const WARM = { concurrency: 1, requests: 100 } as const;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });

interface Reference {
  readonly address: string;
  stop(): Promise<void>;
}

async function startReference(): Promise<Reference> {
  const child = fork(join(import.meta.dirname, 'reference-server.js'));
  const [{ address }] = (await once(child, 'message')) as [{ address: string }];
  return {
    address,
    stop: async () => {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

async function createEndpoint(
  client: TenantClient,
  name: string,
  workers: { min: number; max: number },
): Promise<string> {
  const { body, status } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name,
    type: 'QUEUE',
    image: 'local/node-echo',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers,
  });
  if (status !== 201) throw new Error(`the endpoint was not created: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

function accept(origin: string, path: string, apiKey: string): Promise<LoadResult> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return postMany({ origin, path, headers, body: BODY, ...ACCEPT });
}

/** Alternating rounds, so that a noisy minute hits both sides. */
async function benchAccept(stack: StartedStack, reference: Reference): Promise<void> {
  const { apiKey, runUrl } = stack.dev;
  const client = new TenantClient(() => stack.dev);
  const endpointId = await createEndpoint(client, 'bench-accept', { min: 0, max: 0 });
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bareResult = await accept(reference.address, '/run', apiKey);
    const ourResult = await accept(runUrl, `/v2/${endpointId}/run`, apiKey);
    if (ourResult.failures + bareResult.failures > 0) throw new Error('a request failed; the figures would lie');
    ours.push(ourResult.perSecond);
    bare.push(bareResult.perSecond);
    print(`  round ${round}: /run ${ourResult.perSecond.toFixed(0)}/s, bare ${bareResult.perSecond.toFixed(0)}/s`);
  }
  const ratio = median(ours.map((perSecond, round) => perSecond / (bare[round] ?? Number.NaN)));
  print(
    `/run accepted: ${median(ours).toFixed(0)}/s; bare POST with one synced publish: ${median(bare).toFixed(0)}/s; ratio ${ratio.toFixed(2)}`,
  );
}

async function benchWarm(stack: StartedStack): Promise<void> {
  const { apiKey, runUrl } = stack.dev;
  const client = new TenantClient(() => stack.dev);
  const endpointId = await createEndpoint(client, 'bench-warm', { min: 1, max: 1 });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const call = { origin: runUrl, path: `/v2/${endpointId}/runsync`, headers, body: BODY };
  await postMany({ ...call, concurrency: 1, requests: 5 });
  const { failures, latenciesMs } = await postMany({ ...call, ...WARM });
  if (failures > 0) throw new Error('a request failed; the figures would lie');
  const [p50, p99] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)];
  print(
    `warm /runsync on node-echo: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${latenciesMs.length} calls, one after the other)`,
  );
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

print('starting a stack and the reference …');
const images = join(REPOSITORY, 'examples/workers');
const reference = await startReference();
const stack = await StartedStack.start(['--runtime', 'process', '--images', images, '--demo', 'off']);
try {
  await benchWarm(stack);
  await benchAccept(stack, reference);
} finally {
  await stack.stop();
  await stack.remove();
  await reference.stop();
}
