import type { EndpointId, RequestCounts } from '@berth/domain';
import { count, id, listOf, objectOf, readShape, text, type Reading } from '@berth/domain/shape';
import { readJson } from '../wire/read-json.js';

/**
 * Router → routers, core NATS, every second: the requests to load-balanced endpoints that it has, of each that has any or had
 * before. What is not told again counts no more after a while.
 */
export interface RequestCountsMessage {
  readonly routerId: string;
  readonly endpoints: readonly EndpointRequests[];
}

interface EndpointRequests extends RequestCounts {
  readonly endpointId: EndpointId;
}

/** More than any router tells in one message. */
const ENTRIES_MAX = 100_000;

const requestCounts = objectOf<RequestCountsMessage>({
  routerId: text(),
  endpoints: listOf(objectOf<EndpointRequests>({ endpointId: id, held: count, inFlight: count }), ENTRIES_MAX),
});

export function readRequestCounts(body: string): Reading<RequestCountsMessage> {
  const json = readJson(body);
  return json.kind === 'unreadable' ? json : readShape<RequestCountsMessage>(requestCounts, json.value);
}

export const requestCountsSubject = (routerId: string): string => `requests.${routerId}`;
export const REQUEST_COUNTS_SUBJECTS = 'requests.*';
