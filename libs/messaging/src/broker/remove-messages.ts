import { count, optional, type Members } from '@berth/domain/shape';
import type { Broker } from './broker.js';
import { API_ERROR, unexpectedAnswer, type ApiError } from './broker-errors.js';

interface PurgeAnswer {
  readonly purged?: number;
}

const PURGE_ANSWER: Members<PurgeAnswer> = { purged: optional(count) };

/**
 * Removes one message; gone already is success. Without `no_erase` the broker overwrites the bytes on disk, at fifty
 * times the cost.
 *
 * @throws PlatformError `service-unavailable` when no answer comes
 */
export async function removeMessage(broker: Broker, stream: string, sequence: number): Promise<void> {
  const question = JSON.stringify({ seq: sequence, no_erase: true });
  const { error } = await broker.ask<object>(`$JS.API.STREAM.MSG.DELETE.${stream}`, question, {});
  if (error === undefined || isGone(error)) return;
  throw unexpectedAnswer(`remove message ${sequence} of ${stream}`, error);
}

/** Removed before, expired, purged, or behind the end of a stream whose unsynced tail was lost: each has its own words. */
const isGone = ({ err_code: code, description }: ApiError): boolean =>
  code === API_ERROR.sequenceNotFound ||
  (code === API_ERROR.deleteFailed && /no message found|store EOF|deleted message/.test(description));

/**
 * Removes what matches `filter` and returns how many. Consumers do not hear of it and no marker is left.
 *
 * @throws PlatformError `service-unavailable` when no answer comes
 */
export const purgeSubject = (broker: Broker, stream: string, filter: string): Promise<number> =>
  purge(broker, stream, { filter });

/** As `purgeSubject`, but only what lies before a sequence. */
export const purgeBefore = (
  broker: Broker,
  stream: string,
  { filter, sequence }: { readonly filter: string; readonly sequence: number },
): Promise<number> => purge(broker, stream, { filter, seq: sequence });

async function purge(
  broker: Broker,
  stream: string,
  what: { readonly filter: string; readonly seq?: number },
): Promise<number> {
  const subject = `$JS.API.STREAM.PURGE.${stream}`;
  const { error, purged } = await broker.ask<PurgeAnswer>(subject, JSON.stringify(what), PURGE_ANSWER);
  if (error !== undefined) throw unexpectedAnswer(`purge ${what.filter}`, error);
  return purged ?? 0;
}
