import type { MetricRegistry } from '@berth/telemetry';
import type { FastifyInstance } from 'fastify';
import { requestMetrics } from '../metrics.js';
import { traceparentOf } from './request-context.js';
import { faultOf } from './request-fault.js';
import type { RequestLines } from './request-lines.js';
import { statusLabel } from './status-label.js';

/** Counts and times every answer by its route, never by its path: ids would make a metric of each. */
export function registerRequestMetrics(
  fastify: FastifyInstance,
  { metrics, lines }: { readonly metrics: MetricRegistry; readonly lines: RequestLines },
): void {
  const { duration } = requestMetrics(metrics);
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    const { method } = request;
    const labels = { method, route, status: statusLabel(status), fault: faultOf(request, status) };
    duration.observe(labels, reply.elapsedTime / 1000, traceparentOf(request));
    lines
      .of(request)
      .debug(`${method} ${route} ${status}`, { requestId: request.id, elapsedMs: Math.round(reply.elapsedTime) });
    done();
  });
}
