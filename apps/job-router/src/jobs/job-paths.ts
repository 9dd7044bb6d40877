import { MIB } from '@berth/domain';

/** Largest bodies (API decisions 2.1); other paths take none that matters. */
const BODY_MAX_BYTES_OF_ROUTE: Readonly<Record<string, number>> = {
  '/v2/:endpointId/run': 10 * MIB,
  '/v2/:endpointId/run-batch': 10 * MIB,
  '/v2/:endpointId/runsync': 20 * MIB,
  '/v2/:endpointId/openai/*': 20 * MIB,
};
const OTHER_BODY_MAX_BYTES = MIB;

/** A read of a stream moves its reader's place, a GET of an OpenAI path is a job, and `ttl` replaces a job's life. */
const GETS_WITH_EFFECT: ReadonlySet<string> = new Set([
  '/v2/:endpointId/stream/:jobId',
  '/v2/:endpointId/openai/*',
  '/v2/:endpointId/status/:jobId',
]);

/** @param route its path as declared: `/v2/:endpointId/run` */
export const bodyMaxBytes = (route: string): number => BODY_MAX_BYTES_OF_ROUTE[route] ?? OTHER_BODY_MAX_BYTES;

/** Whether a `GET` of the route may change something, which a `HEAD` must not. */
export const getHasEffect = (route: string): boolean => GETS_WITH_EFFECT.has(route);
