import type { Clock, Random } from '@berth/lifecycle';
import type { LogBatch, LogBroker } from '../ports/log-broker.port.js';

export type Settlement =
  | { readonly kind: 'committed'; readonly sequence: number }
  | { readonly kind: 'lost-to'; readonly batchId: string }
  | { readonly kind: 'full' }
  | { readonly kind: 'given-up' };

export async function settleAppend(
  { broker, clock, random }: { readonly broker: LogBroker; readonly clock: Clock; readonly random: Random },
  batch: LogBatch,
  { signal }: { readonly signal: AbortSignal },
): Promise<Settlement> {
  let mayBeUnderWay = false;
  while (!signal.aborted) {
    const outcome = await broker.append(batch);
    if (outcome.kind === 'stored') return { kind: 'committed', sequence: outcome.sequence };
    if (outcome.kind === 'full' && !mayBeUnderWay) return { kind: 'full' };
    mayBeUnderWay = true;
    const next = await broker.readNext(batch.endpointId, batch.after).catch(() => null);
    if (next !== null) {
      if (!('batchId' in next)) return { kind: 'lost-to', batchId: 'unreadable' };
      return next.batchId === batch.batchId
        ? { kind: 'committed', sequence: next.sequence }
        : { kind: 'lost-to', batchId: next.batchId };
    }
    await clock.sleep(20 + 180 * random.fraction(), signal);
  }
  return { kind: 'given-up' };
}
