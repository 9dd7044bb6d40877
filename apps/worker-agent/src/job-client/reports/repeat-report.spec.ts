import type { EndpointId, JobId, WorkerId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { MetricRegistry, NO_TRACES, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { HostAttempt } from '../attempts/attempt.js';
import { jobClientMetrics } from '../metrics.js';
import { repeatStored, type ReportTools } from './repeat-report.js';
import { UplinkWindow } from './uplink-window.js';

test('what lies in the journal is not read before the line has room for it', async () => {
  const clock = new ManualClock();
  const window = new UplinkWindow(clock);
  const tools = {
    clock,
    window,
    random: systemRandom,
    log: silentLogger,
    traces: NO_TRACES,
    metrics: jobClientMetrics(new MetricRegistry()),
    signal: new AbortController().signal,
  } as unknown as ReportTools;
  const ref = { endpointId: 'ep1' as EndpointId, jobId: 'j1' as JobId, attempt: 1, token: 't' };
  const times = { executionEndsAtMs: 1e15, expiresAtMs: 1e15, trustedUntilMs: 1e15 };
  const attempt = new HostAttempt({ ref, workerId: 'w1' as WorkerId, traceparent: null, ...times });
  let end = (): void => undefined;
  void window.run(
    { bytes: 4 * 2 ** 20, owner: 'w2', isUrgent: false },
    () => new Promise<void>((done) => (end = done)),
  );
  await clock.advance(0);
  let reads = 0;
  const read = async (): Promise<null> => {
    reads += 1;
    return null;
  };
  const sent = repeatStored(tools, attempt, { verb: 'chunk', bytes: 1_000, read });
  await clock.advance(1_000);
  expect(reads).toBe(0);
  end();
  expect(await sent).toBeNull();
  expect(reads).toBe(1);
});
