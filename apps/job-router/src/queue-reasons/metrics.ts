import type { Clock } from '@berth/lifecycle';
import type { MetricRegistry } from '@berth/telemetry';
import type { ControlPulse } from '../directory/index.js';

export function pulseMetrics(
  metrics: MetricRegistry,
  pulse: Pick<ControlPulse, 'heardAtMs'>,
  clock: Pick<Clock, 'nowMs'>,
): void {
  const help = 'Seconds since the last sign of life of the control plane.';
  metrics.gaugeOf({ name: 'berth_router_control_silence_seconds', help }, () =>
    Math.max(0, (clock.nowMs() - pulse.heardAtMs) / 1000),
  );
}
