import type { ToldDelivery } from '@berth/contracts';
import { webhookMessageId, type DeliveryTry } from '@berth/domain';

/** The delivery of one end of a job, for the tenant that gave the webhook. */
export const deliveryBody = (delivery: ToldDelivery, nowMs: number): object => ({
  id: webhookMessageId(delivery),
  url: delivery.url,
  status: delivery.outcome ?? 'pending',
  attempts: delivery.tries.map((each) => attemptOf(each, nowMs)),
  ...(delivery.outcome !== null || delivery.isClaimed ? {} : { nextAttemptAt: instant(delivery.nextAtMs) }),
});

/** One that is under way has neither an answer nor an error. */
const attemptOf = ({ atMs, statusCode, error, durationMs }: DeliveryTry, nowMs: number): object => ({
  at: instant(atMs),
  ...(statusCode === null ? {} : { statusCode }),
  ...(error === null ? {} : { error }),
  durationMs: durationMs ?? Math.max(0, nowMs - atMs),
});

const instant = (atMs: number): string => new Date(atMs).toISOString();
