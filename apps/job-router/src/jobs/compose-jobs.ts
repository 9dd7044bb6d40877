import type { EndpointDirectory } from '../directory/index.js';
import type { Jobs } from '../edge/index.js';
import type { Platform } from '../platform/index.js';
import type { QueueReasons } from '../queue-reasons/index.js';
import type { RequestBodies } from '../request-bodies/index.js';
import { HeldCalls } from './held-calls.js';
import { JobCommands } from './job-commands.js';
import { JobIntake } from './job-intake.js';
import { JobReader } from './job-reader.js';
import { jobMetrics, waitMetrics } from './metrics.js';

export interface JobsParts {
  readonly directory: EndpointDirectory;
  readonly jobs: Jobs;
  readonly reasons: QueueReasons;
  readonly bodies: RequestBodies;
}

/** The job API. */
export function composeJobs(
  { clock, logger, metrics, settings }: Platform,
  { bodies, directory, jobs, reasons }: JobsParts,
) {
  const held = new HeldCalls({ endpointOf: (endpointId) => directory.knownEndpoint(endpointId) });
  waitMetrics(metrics, () => held.size);
  const reader = new JobReader({ jobs, reasons, held, clock });
  const told = jobMetrics(metrics);
  const intake = new JobIntake({ jobs, reader, secrets: settings.secrets, bodies, metrics: told, logger });
  return { held, reader, intake, commands: new JobCommands(jobs, told) };
}
