import type { EndpointEvent } from '@berth/endpoint-log';

type ToldEvent =
  Exclude<EndpointEvent['kind'], 'closed'> | `closed: ${Extract<EndpointEvent, { kind: 'closed' }>['reason']}`;

const ALL: Readonly<Record<ToldEvent, true>> = {
  opened: true,
  'closed: idle': true,
  'closed: given-up': true,
  'closed: lost-to': true,
  'closed: full': true,
  stopped: true,
  'purged-unread': true,
  unanswered: true,
};

/** What can happen to the log of an endpoint, as metrics say it. */
export const TOLD_EVENTS: readonly string[] = Object.keys(ALL);

export const toldEventOf = (event: EndpointEvent): ToldEvent =>
  event.kind === 'closed' ? `closed: ${event.reason}` : event.kind;
