import { CLAIM_MS, LOST_ERROR, TRIES_MAX, TRY_INTERVAL_MS } from '../../webhook/index.js';
import { TRY_ERROR_MAX_BYTES } from '../bounds.js';
import type { CommandDecision, EndTryCommand } from '../commands.js';
import type { DeliveryEndedFact, DeliveryTriedFact } from '../facts.js';
import { deliveryName, type DeliveryRecord, type EndpointState } from '../state.js';
import { boundedText } from '../text-bytes.js';
import { decided } from './outcome.js';

/** How a try ended, by whoever made it. Another sender may have begun the next one since: then the word comes too late. */
export function decideEndTry(state: EndpointState, command: EndTryCommand, atMs: number): CommandDecision {
  const { attempt, error, isSuccess, jobId, statusCode, token } = command;
  const delivery = state.deliveries.get(deliveryName(jobId, attempt));
  if (delivery?.data.claim?.token !== token) return decided({ kind: 'superseded' });
  const isUsedUp = delivery.data.tries.length >= TRIES_MAX;
  const fact: DeliveryEndedFact = {
    kind: 'delivery-ended',
    atMs,
    jobId,
    attempt,
    token,
    result: { statusCode, error: error === null ? null : boundedText(error, TRY_ERROR_MAX_BYTES) },
    outcome: isSuccess ? 'delivered' : isUsedUp ? 'failed' : null,
    nextAtMs: atMs + TRY_INTERVAL_MS,
  };
  return decided({ kind: 'recorded' }, [fact]);
}

/** The next step of a delivery that is due: another try, or its end when the last one was lost. */
export function nextStep(
  { data: { attempt, claim, jobId, tries } }: DeliveryRecord,
  { atMs, secret }: { readonly atMs: number; readonly secret: string },
): DeliveryTriedFact | DeliveryEndedFact {
  if (claim !== null && tries.length >= TRIES_MAX) {
    const result = { statusCode: null, error: LOST_ERROR };
    const ended = { kind: 'delivery-ended', atMs, jobId, attempt, token: claim.token, nextAtMs: atMs } as const;
    return { ...ended, result, outcome: 'failed' };
  }
  const token = `${secret}.${tries.length}`;
  return { kind: 'delivery-tried', atMs, jobId, attempt, token, untilMs: atMs + CLAIM_MS };
}
