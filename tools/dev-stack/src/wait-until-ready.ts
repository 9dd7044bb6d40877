import { systemClock } from '@berth/lifecycle';
import { DeadlineError, pollUntil } from '@berth/servers';
import { request } from 'undici';
import type { StackClient } from './management-client.js';

const HOST_DEADLINE_MS = 45_000;
const PROBE_TIMEOUT_MS = 2_000;
const PROBE_INTERVAL_MS = 50;

/** A router reads every job that there is before it is ready. */
const READY_DEADLINE_MS = 10 * 60_000;

export interface Patience {
  /** Told now and then what is still awaited. */
  readonly say: (line: string) => void;
  /** How long the process may be silent, or say the same. */
  readonly stillMaxMs?: number;
  readonly sayEveryMs?: number;
}

const STILL_MAX_MS = 45_000;
const SAY_EVERY_MS = 10_000;

/**
 * Waits until a process says that all it depends on is there: as long as it goes on, which shows in its reasons.
 *
 * @throws DeadlineError when it stands still, or after ten minutes
 */
export async function waitUntilReady(operationsUrl: string, patience: Patience): Promise<void> {
  const { say, stillMaxMs = STILL_MAX_MS, sayEveryMs = SAY_EVERY_MS } = patience;
  let movedAtMs = systemClock.monotonicMs();
  let saidAtMs = movedAtMs;
  let last = 'it does not answer yet';
  const look = async (): Promise<true | undefined> => {
    const reason = await whyNotReady(operationsUrl);
    if (reason === '') return true;
    const nowMs = systemClock.monotonicMs();
    if (reason !== null && reason !== last) {
      last = reason;
      movedAtMs = nowMs;
    }
    if (nowMs - movedAtMs >= stillMaxMs) {
      throw new DeadlineError(`${operationsUrl}/readyz stood still for ${stillMaxMs} ms: ${last}`);
    }
    if (nowMs - saidAtMs >= sayEveryMs) {
      saidAtMs = nowMs;
      say(`… ${last}`);
    }
    return undefined;
  };
  await pollUntil(look, {
    what: `${operationsUrl}/readyz`,
    deadlineMs: READY_DEADLINE_MS,
    intervalMs: PROBE_INTERVAL_MS,
  });
}

interface ReadinessBody {
  readonly status: string;
  readonly dependencies?: Readonly<Record<string, { readonly reason?: string }>>;
}

/** Empty when it is ready; null when it does not answer. */
async function whyNotReady(operationsUrl: string): Promise<string | null> {
  try {
    const { body, statusCode } = await request(`${operationsUrl}/readyz`, {
      headersTimeout: PROBE_TIMEOUT_MS,
      bodyTimeout: PROBE_TIMEOUT_MS,
    });
    const { status, dependencies = {} } = (await body.json()) as ReadinessBody;
    if (statusCode === 200) return '';
    const reasons = Object.values(dependencies).flatMap(({ reason }) => reason ?? []);
    return reasons.length === 0 ? status : reasons.join('; ');
  } catch {
    // Refused or silent: the process is not up yet, or busy, which is what is being waited for.
    return null;
  }
}

interface HostBody {
  readonly lastSeenAt: string | null;
  readonly inventory: unknown;
}

/** Waits until the control plane has heard from the host and can place workers there. */
export async function waitForHost(client: StackClient, baseUrl: string, hostId: string): Promise<void> {
  await pollUntil(
    async () => {
      const host = await client.get<HostBody>(`${baseUrl}/v2/hosts/${hostId}`);
      return host.lastSeenAt !== null && host.inventory !== null ? true : undefined;
    },
    { what: `the first report of host ${hostId}`, deadlineMs: HOST_DEADLINE_MS },
  );
}
