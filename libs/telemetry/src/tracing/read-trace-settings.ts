import type { ConfigReader } from '@berth/lifecycle';

export interface TraceSettings {
  /** Where spans go, by OTLP over HTTP; null: nothing is recorded. */
  readonly otlpEndpoint: string | null;
  /** Of 1,000 traces that begin here, as many are recorded. */
  readonly tracedPermille: number;
}

const ENDPOINT =
  'Where spans go: a collector that takes OTLP over HTTP, like `http://collector:4318`. Without it nothing is recorded.';
const PERMILLE_BOUNDS = { min: 0, max: 1_000, fallback: 10, unit: 'traces' };

/** Whether a process records what it does: every one reads the same. */
export const readTraceSettings = (read: ConfigReader): TraceSettings => ({
  otlpEndpoint: read.optionalUrl('BERTH_OTLP_ENDPOINT', ENDPOINT, ['http:', 'https:']),
  tracedPermille: read.integer(
    'BERTH_TRACED_PERMILLE',
    'Of 1,000 traces that begin here, as many are recorded; those of jobs that fail always are.',
    PERMILLE_BOUNDS,
  ),
});
