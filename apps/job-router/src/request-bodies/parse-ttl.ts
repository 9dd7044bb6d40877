import { LIFE_MIN_MS, PlatformError, TTL_MAX_MS } from '@berth/domain';

/**
 * The `ttl` of a status request in ms; null where there is none.
 *
 * @throws PlatformError `invalid-query` naming the bounds
 */
export function parseTtl(text: unknown): number | null {
  if (text === undefined) return null;
  const value = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= LIFE_MIN_MS && value <= TTL_MAX_MS) return value;
  const failure = `ttl: must be an integer from ${LIFE_MIN_MS} to ${TTL_MAX_MS} (milliseconds)`;
  throw new PlatformError('invalid-query', failure, { errors: [failure] });
}
