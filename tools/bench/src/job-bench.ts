import { TenantClient, type StartedStack } from '@berth/dev-stack';
import { createEndpoint, headersOf } from './bench-endpoint.js';
import { median, percentile, print } from './figures.js';
import { sendMany, type LoadResult } from './load.js';
import { startReference } from './reference.js';

const ROUNDS = 5;
const ACCEPT = { method: 'POST', status: 200, concurrency: 64, requests: 3_000 } as const;
const WARM = { method: 'POST', status: 200, concurrency: 1 } as const;
const WARM_REQUESTS = 100;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });

/** Jobs: how many are accepted in a second, and how long a warm worker takes. */
export async function benchJobs(stack: StartedStack): Promise<void> {
  await benchWarm(stack);
  await benchAccept(stack);
}

/** Alternating rounds, so that a noisy minute hits both sides. */
async function benchAccept(stack: StartedStack): Promise<void> {
  const { apiKey, runUrl } = stack.dev;
  const reference = await startReference('job-reference.js');
  const client = new TenantClient(() => stack.dev);
  const endpointId = await createEndpoint(client, 'bench-accept', { workers: { min: 0, max: 0 } });
  const accept = (origin: string, path: string): Promise<LoadResult> =>
    sendMany({ origin, path, headers: headersOf(apiKey), body: BODY, ...ACCEPT });
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bareResult = await accept(reference.address, '/run');
    const ourResult = await accept(runUrl, `/v2/${endpointId}/run`);
    ours.push(ourResult.perSecond);
    bare.push(bareResult.perSecond);
    print(`  round ${round}: /run ${ourResult.perSecond.toFixed(0)}/s, bare ${bareResult.perSecond.toFixed(0)}/s`);
  }
  const ratio = median(ours.map((perSecond, round) => perSecond / (bare[round] ?? Number.NaN)));
  print(
    `/run accepted: ${median(ours).toFixed(0)}/s; bare POST with one synced publish: ${median(bare).toFixed(0)}/s; ratio ${ratio.toFixed(2)}`,
  );
  await reference.stop();
}

async function benchWarm(stack: StartedStack): Promise<void> {
  const { apiKey, runUrl } = stack.dev;
  const client = new TenantClient(() => stack.dev);
  const endpointId = await createEndpoint(client, 'bench-warm', { workers: { min: 1, max: 1 } });
  const path = `/v2/${endpointId}/runsync`;
  const call = { origin: runUrl, path, headers: headersOf(apiKey), body: BODY, ...WARM };
  await sendMany({ ...call, requests: 5 });
  const { latenciesMs } = await sendMany({ ...call, requests: WARM_REQUESTS });
  const [p50, p99] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)];
  print(
    `warm /runsync on node-echo: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${latenciesMs.length} calls, one after the other)`,
  );
}
