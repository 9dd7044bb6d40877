import { CLAIM_MS, LOST_ERROR, TRIES_MAX, TRY_INTERVAL_MS } from '../../webhook/index.js';
import { TRY_ERROR_MAX_BYTES } from '../bounds.js';
import type { BeginTryCommand, CommandDecision, EndTryCommand } from '../commands.js';
import type { DeliveryEndedFact } from '../facts.js';
import { deliveryName, deliveryNextAtMs, type DeliveryRecord, type EndpointState } from '../state.js';
import { boundedText } from '../text-bytes.js';
import { decided } from './outcome.js';

/** How a try ended, by its sender. Another sender may have begun the next one since: then the word comes too late. */
export function decideEndTry(state: EndpointState, command: EndTryCommand, atMs: number): CommandDecision {
  const { attempt, error, isSuccess, jobId, statusCode, token } = command;
  const delivery = state.deliveries.get(deliveryName(jobId, attempt));
  if (delivery?.data.claim?.token !== token) return decided({ kind: 'superseded' });
  const wasLast = delivery.data.tries.length >= TRIES_MAX;
  const fact: DeliveryEndedFact = {
    kind: 'delivery-ended',
    atMs,
    jobId,
    attempt,
    token,
    result: { statusCode, error: error === null ? null : boundedText(error, TRY_ERROR_MAX_BYTES) },
    outcome: isSuccess ? 'delivered' : wasLast ? 'failed' : null,
    nextAtMs: atMs + TRY_INTERVAL_MS,
  };
  return decided({ kind: 'recorded' }, [fact]);
}

/** One sender's try at a time, and none before its instant. After the last one was lost there is nothing left to try. */
export function decideBeginTry(state: EndpointState, command: BeginTryCommand, atMs: number): CommandDecision {
  const { attempt, jobId, token } = command;
  const delivery = state.deliveries.get(deliveryName(jobId, attempt));
  if (delivery === undefined) return SUPERSEDED;
  const { claim } = delivery.data;
  if (claim?.token === token) return decided({ kind: 'begun', untilMs: claim.untilMs });
  if (deliveryNextAtMs(delivery.data) > atMs) return SUPERSEDED;
  if (isUsedUp(delivery)) return decided({ kind: 'superseded' }, [lastTryLost(delivery, atMs)]);
  const untilMs = atMs + CLAIM_MS;
  return decided({ kind: 'begun', untilMs }, [{ kind: 'delivery-tried', atMs, jobId, attempt, token, untilMs }]);
}

const SUPERSEDED = decided({ kind: 'superseded' });

const isUsedUp = ({ data: { claim, tries } }: DeliveryRecord): boolean => claim !== null && tries.length >= TRIES_MAX;

function lastTryLost({ data: { attempt, claim, jobId } }: DeliveryRecord, atMs: number): DeliveryEndedFact {
  const result = { statusCode: null, error: LOST_ERROR };
  const ended = { kind: 'delivery-ended', atMs, jobId, attempt, nextAtMs: atMs } as const;
  return { ...ended, token: claim?.token ?? '', result, outcome: 'failed' };
}
