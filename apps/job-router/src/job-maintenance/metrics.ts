import { isUnreadable } from '@berth/domain';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { isUnavailable } from '../patiently.js';
import type { MaintenanceObserver } from './mend.js';

/** Turns what maintenance does into metrics and lines. In steady state there are none. */
export function maintenanceObserver(metrics: MetricRegistry, logger: Logger): MaintenanceObserver {
  const findings = metrics.counter({
    name: 'router_maintenance_findings_total',
    help: 'What maintenance found amiss and mended. In steady state each stays at zero.',
    labels: ['finding'],
  });
  const failures = metrics.counter({
    name: 'router_maintenance_failures_total',
    help: 'Passes or items of maintenance that failed; the next pass tries again.',
    labels: ['loop'],
  });
  return {
    mended: (finding, { endpointId, jobId }) => {
      findings.inc({ finding });
      logger.info(`mended: ${finding}`, { endpointId, jobId });
    },
    failed: (loop, error) => {
      failures.inc({ loop });
      // A store that is away is told by its own lines; here it is only the reason of a pass that ended early.
      // What cannot be read is named once, where it was read.
      if (isUnavailable(error) || isUnreadable(error)) logger.debug(`${loop} ended early`, { error });
      else logger.error(`${loop} failed`, { error });
    },
  };
}
