import { count, id, matching, objectOf, port, text } from '@berth/domain/shape';
import type { RouterGoneMessage, StopMessage, TunnelOfferMessage } from './job-messages.js';

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

const KEY = /^[A-Za-z0-9_-]{43}$/;
/** The longest name of a host, as DNS has it. */
const HOST_MAX_CHARACTERS = 253;

const tunnelOffer = objectOf<TunnelOfferMessage>({
  router: id,
  host: text(HOST_MAX_CHARACTERS),
  port,
  ticket: id,
  key: matching('32 bytes in base64url', KEY),
});

/** Null: it offers nothing that could be dialled. */
export const readTunnelOffer = (body: unknown): TunnelOfferMessage | null =>
  tunnelOffer(body, '$') === null ? (body as TunnelOfferMessage) : null;
