import type { AssignedWorker } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { LinkAnswer, WorkerLink } from '@berth/tunnel';
import type { LoadBalancerMetrics } from '../metrics.js';

export interface AskOptions {
  readonly endpointId: EndpointId;
  readonly link: WorkerLink;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<LoadBalancerMetrics, 'connect'>;
  /** The question may wait for a slot at the worker's agent. Absent: no. */
  readonly mayWait?: boolean;
}

/** A worker, with its agent, that says nothing for so long is taken for unreachable. */
const CONNECT_MS = 5_000;
const MS_PER_SECOND = 1_000;

/** Asks a worker for a place. Never rejects. @param gone the caller has no more use for it */
export async function askWorker(
  { hostId, id: workerId }: AssignedWorker,
  gone: AbortSignal,
  { clock, endpointId, link, logger, mayWait = false, metrics }: AskOptions,
): Promise<LinkAnswer> {
  const askedAtMs = clock.monotonicMs();
  const over = new AbortController();
  const giveUp = (): void => over.abort();
  const disarm = clock.after(CONNECT_MS, giveUp);
  // By hand: a signal made of several is what Node has to keep account of, for each request.
  if (gone.aborted) giveUp();
  gone.addEventListener('abort', giveUp);
  try {
    const answer = await link.open({ hostId, endpointId, workerId }, over.signal, { mayWait });
    if (answer.kind === 'admitted' && !mayWait)
      metrics.connect.observe((clock.monotonicMs() - askedAtMs) / MS_PER_SECOND);
    return answer;
  } catch (error) {
    logger.error('the way to a worker failed in a way that it must not', { endpointId, error });
    return { kind: 'refused', reason: 'no-way' };
  } finally {
    gone.removeEventListener('abort', giveUp);
    disarm();
  }
}
