import type { JobId } from '../../ids.js';
import { webhookOrigin } from '../../webhook/index.js';
import { WEBHOOK_ORIGIN_MAX_BYTES } from '../bounds.js';
import type { CommandAnswer, CommandDecision, CommandRefusal } from '../commands.js';
import type { EndSummary, LogFact } from '../facts.js';
import type { JobData } from '../job-data.js';
import type { LivingJob } from '../state.js';
import { boundedText } from '../text-bytes.js';

export const decided = (answer: CommandAnswer, facts: readonly LogFact[] = []): CommandDecision => ({ facts, answer });

export const again = (...facts: readonly LogFact[]): CommandDecision => ({ facts, answer: { kind: 'again' } });

type Refused = Omit<CommandRefusal, 'kind' | 'retryAfterMs'> & { readonly retryAfterMs?: number };

export const refused = ({ retryAfterMs, ...refusal }: Refused): CommandDecision =>
  decided({ kind: 'refused', ...refusal, retryAfterMs: retryAfterMs ?? null });

/** The same for a job that never was, is gone, or is another endpoint's. */
export const noJob = (): CommandDecision =>
  refused({
    reason: 'no-job',
    code: 'job-not-found',
    detail: 'No such job: it never was, or its time to live or retention is over.',
  });

export const jobIs = ({ data: { jobId, state } }: LivingJob, facts: readonly LogFact[] = []): CommandDecision =>
  decided({ kind: 'job', jobId, state }, facts);

export const jobWillBe = (jobId: JobId, state: JobData['state'], fact: LogFact): CommandDecision =>
  decided({ kind: 'job', jobId, state }, [fact]);

export const summaryOf = ({ attempt, createdAtMs, current, origin, queuedAtMs, webhook }: JobData): EndSummary => ({
  origin,
  createdAtMs,
  queuedAtMs,
  attempt,
  startedAtMs: current?.startedAtMs ?? null,
  hostId: current?.hostId ?? null,
  workerId: current?.workerId ?? null,
  webhook: webhook === null ? null : toldOrigin(webhook),
});

function toldOrigin(webhook: string): string | null {
  const origin = webhookOrigin(webhook);
  return origin === null ? null : boundedText(origin, WEBHOOK_ORIGIN_MAX_BYTES);
}
