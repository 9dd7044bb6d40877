import { count, id, objectOf, text } from '@berth/domain/shape';
import type { RouterGoneMessage, StopMessage } from './job-messages.js';

type StoppedJob = StopMessage['jobs'][number];

const stoppedJob = objectOf<StoppedJob>({ endpointId: id, jobId: id, attempt: count, token: text(), reason: text() });

/** What can be made of a stop message: an entry that is none is left out, and the next renewal says the same. */
export function readStopMessage(body: unknown): StopMessage {
  const { jobs } = (body ?? {}) as { readonly jobs?: unknown };
  const entries: readonly unknown[] = Array.isArray(jobs) ? jobs : [];
  return { jobs: entries.filter((entry): entry is StoppedJob => stoppedJob(entry, '$') === null) };
}

const routerGone = objectOf<RouterGoneMessage>({ router: id });

/** Null: it names no router, and tells nothing. */
export const readRouterGone = (body: unknown): RouterGoneMessage | null =>
  routerGone(body, '$') === null ? (body as RouterGoneMessage) : null;
