import type { Jobs } from '../edge/index.js';
import type { Platform } from '../platform/index.js';
import type { QueueReasons } from '../queue-reasons/index.js';
import type { RequestBodies } from '../request-bodies/index.js';
import type { HeldCalls } from './held-calls.js';
import { JobCommands } from './job-commands.js';
import { JobIntake } from './job-intake.js';
import { JobReader } from './job-reader.js';
import { jobMetrics, waitMetrics } from './metrics.js';

export interface JobsParts {
  readonly held: HeldCalls;
  readonly jobs: Jobs;
  readonly reasons: QueueReasons;
  readonly bodies: RequestBodies;
}

/** The job API. */
export function composeJobs(
  { clock, logger, metrics, settings, traces }: Platform,
  { bodies, held, jobs, reasons }: JobsParts,
) {
  waitMetrics(metrics, () => held.size);
  const reader = new JobReader({ jobs, reasons, held, clock, traces });
  const told = jobMetrics(metrics);
  const intake = new JobIntake({ jobs, reader, secrets: settings.secrets, bodies, metrics: told, logger, traces });
  return { reader, intake, commands: new JobCommands(jobs, told) };
}
