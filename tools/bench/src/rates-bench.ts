import { TenantClient, StartedStack } from '@berth/dev-stack';
import { JOB_OPERATIONS, SlidingCount, decideAdmission } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { createEndpoint, headersOf } from './bench-endpoint.js';
import { median, medianRatio, print } from './figures.js';
import { sendMany } from './load.js';

const CHECKS = 1_000_000;
const CHECK_ROUNDS = 9;
const KEYS = 1_000;
const ENDPOINTS = 12;
/** Of one endpoint, below what it admits in 10 s; as many again warm it up. */
const REQUESTS = 450;
const LOAD = { method: 'POST', status: 200, concurrency: 64, requests: REQUESTS } as const;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });

/** Rate limits: what one check costs against a bare count, and what is left of `/run` with them. */
export async function benchRates(unlimited: StartedStack): Promise<void> {
  benchChecks();
  const limited = await StartedStack.start(['--runtime', 'process', '--demo', 'off', '--rate-limits', 'on']);
  try {
    await benchAccept({ limited, unlimited });
  } finally {
    await limited.stop();
    await limited.remove();
  }
}

/** Both sides look their key up in a map, as a router does for endpoint and operation; ours admits, counts and ends. */
function benchChecks(): void {
  const keys = Array.from({ length: KEYS }, (_, n) => `run endpoint${n}`);
  const counts = new Map(keys.map((key) => [key, 0]));
  const uses = new Map(keys.map((key) => [key, { window: new SlidingCount(), inFlight: 0 }]));
  const bare: number[] = [];
  const checks: number[] = [];
  for (let round = 0; round < CHECK_ROUNDS; round += 1) {
    bare.push(
      nanoseconds((n) => {
        const key = keys[n % KEYS] ?? '';
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }),
    );
    checks.push(
      nanoseconds((n) => {
        const use = uses.get(keys[n % KEYS] ?? '');
        if (use === undefined) return;
        const nowMs = systemClock.monotonicMs();
        const { kind } = decideAdmission(use, JOB_OPERATIONS.run, { count: 1, nowMs });
        if (kind === 'admitted') use.window.add(1, nowMs);
      }),
    );
  }
  print(
    `rate limit, one check: ${median(checks).toFixed(0)} ns; bare count in a map: ${median(bare).toFixed(0)} ns; ` +
      `ratio ${medianRatio(checks, bare)}`,
  );
}

function nanoseconds(step: (n: number) => void): number {
  const beginMs = systemClock.monotonicMs();
  for (let n = 0; n < CHECKS; n += 1) step(n);
  return ((systemClock.monotonicMs() - beginMs) * 1e6) / CHECKS;
}

/** Endpoint by endpoint in turn, so that a noisy second hits both sides. */
async function benchAccept(stacks: Readonly<Record<'limited' | 'unlimited', StartedStack>>): Promise<void> {
  const perSecond = { limited: [] as number[], unlimited: [] as number[] };
  for (let round = 0; round <= ENDPOINTS; round += 1) {
    for (const side of ['unlimited', 'limited'] as const) {
      const result = await acceptAtNewEndpoint(stacks[side], `bench-rates-${round}`);
      if (round > 0) perSecond[side].push(result);
    }
  }
  print(
    `/run with limits: ${median(perSecond.limited).toFixed(0)}/s; without: ${median(perSecond.unlimited).toFixed(0)}/s; ` +
      `ratio ${medianRatio(perSecond.limited, perSecond.unlimited)} (median of ${ENDPOINTS} endpoints with ${REQUESTS} jobs each)`,
  );
}

async function acceptAtNewEndpoint({ dev }: StartedStack, name: string): Promise<number> {
  const { apiKey, runUrl } = dev;
  const endpointId = await createEndpoint(new TenantClient(() => dev), name, { workers: { min: 0, max: 0 } });
  const load = { origin: runUrl, path: `/v2/${endpointId}/run`, headers: headersOf(apiKey), body: BODY, ...LOAD };
  await sendMany(load);
  return (await sendMany(load)).perSecond;
}
