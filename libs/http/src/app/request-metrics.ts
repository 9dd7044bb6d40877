import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance } from 'fastify';
import { requestMetrics } from '../metrics.js';
import { traceparentOf } from './request-context.js';

/** Counts and times every answer by its route, never by its path: ids would make a metric of each. */
export function registerRequestMetrics(
  fastify: FastifyInstance,
  { metrics, logger }: { metrics: MetricRegistry; logger: Logger },
): void {
  const { duration } = requestMetrics(metrics);
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    const { method } = request;
    duration.observe({ method, route, status: String(status) }, reply.elapsedTime / 1000, traceparentOf(request));
    logger.debug(`${method} ${route} ${status}`, { requestId: request.id, elapsedMs: Math.round(reply.elapsedTime) });
    done();
  });
}
