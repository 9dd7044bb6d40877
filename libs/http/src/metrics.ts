import { SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';

export const requestMetrics = (metrics: MetricRegistry) => ({
  duration: metrics.tracedHistogram({
    name: 'berth_http_request_seconds',
    help: 'Time from the request line to the last byte of the answer, by route, status and whose fault it was: none, caller, worker, platform.',
    labels: ['method', 'route', 'status', 'fault'],
    buckets: SECONDS_BUCKETS,
  }),
});

export const lookupMetrics = (metrics: MetricRegistry) => ({
  lookups: metrics.counter({
    name: 'berth_http_key_lookups_total',
    help: 'API keys that were looked up where they are kept, since this process did not know them.',
  }),
});

export const answerMetrics = (metrics: MetricRegistry, takenBytes: () => number): void => {
  metrics.gaugeOf(
    { name: 'berth_http_answers_bytes', help: 'Large answers that callers have not taken yet.' },
    takenBytes,
  );
};

export interface BodyReadings {
  readonly comeBytes: () => number;
  readonly roomBytes: () => number;
}

export function bodyMetrics(metrics: MetricRegistry, { comeBytes, roomBytes }: BodyReadings) {
  metrics.gaugeOf(
    { name: 'berth_http_bodies_bytes', help: 'What has come of the bodies that are coming in.' },
    comeBytes,
  );
  metrics.gaugeOf(
    {
      name: 'berth_http_bodies_room_bytes',
      help: 'Memory that was set aside for bodies that are coming in or are still being dealt with.',
    },
    roomBytes,
  );
  return {
    cut: metrics.counter({
      name: 'berth_http_bodies_cut_total',
      help: 'Bodies that were not read to their end: too slow, no room, or refused and too much to throw away.',
      labels: ['reason'],
    }),
  };
}

export type BodyMetrics = ReturnType<typeof bodyMetrics>;

export interface ConnectionReadings {
  readonly withKey: () => number;
  readonly withoutKey: () => number;
  readonly ofGuests: () => number;
}

export function connectionMetrics(metrics: MetricRegistry, { ofGuests, withKey, withoutKey }: ConnectionReadings) {
  metrics.gaugeOf(
    { name: 'berth_http_connections_without_key', help: 'Connections on which nobody has shown a good key yet.' },
    withoutKey,
  );
  metrics.gaugeOf(
    { name: 'berth_http_connections_with_key', help: 'Connections on which somebody has shown a good key.' },
    withKey,
  );
  metrics.gaugeOf(
    {
      name: 'berth_http_connections_of_guests',
      help: 'Connections without a key to what accounts have opened to everybody.',
    },
    ofGuests,
  );
  return {
    closed: metrics.counter({
      name: 'berth_http_connections_closed_total',
      help: 'Connections that were closed to make room for others, or that sent too many requests at one time.',
      labels: ['reason'],
    }),
  };
}

export type ConnectionMetrics = ReturnType<typeof connectionMetrics>;
