import { request } from 'undici';
import { pollUntil } from '@berth/servers';
import type { StackClient } from './management-client.js';

const READY_DEADLINE_MS = 45_000;
const PROBE_TIMEOUT_MS = 2_000;

/** Waits until a process says that all it depends on is there. */
export async function waitUntilReady(operationsUrl: string): Promise<void> {
  await pollUntil(async () => ((await isReady(operationsUrl)) ? true : undefined), {
    what: `${operationsUrl}/readyz`,
    deadlineMs: READY_DEADLINE_MS,
  });
}

async function isReady(operationsUrl: string): Promise<boolean> {
  try {
    const { body, statusCode } = await request(`${operationsUrl}/readyz`, {
      headersTimeout: PROBE_TIMEOUT_MS,
      bodyTimeout: PROBE_TIMEOUT_MS,
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    // Refused or silent: the process is not up yet, which is what is being waited for.
    return false;
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
    { what: `the first report of host ${hostId}`, deadlineMs: READY_DEADLINE_MS },
  );
}
