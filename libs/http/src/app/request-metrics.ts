import { SECONDS_BUCKETS, type Logger, type MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance } from 'fastify';

const requestMetrics = (metrics: MetricRegistry) => ({
  duration: metrics.histogram({
    name: 'http_request_seconds',
    help: 'Time from the request line to the last byte of the answer.',
    labels: ['method', 'route', 'status'],
    buckets: SECONDS_BUCKETS,
  }),
});

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
    duration.observe({ method, route, status: String(status) }, reply.elapsedTime / 1000);
    logger.debug(`${method} ${route} ${status}`, { requestId: request.id, elapsedMs: Math.round(reply.elapsedTime) });
    done();
  });
}
