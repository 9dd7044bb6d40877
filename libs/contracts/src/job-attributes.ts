import type { EndpointId, HostId, JobId, WorkerId } from '@berth/domain';

/** Whose step it is, as far as the step knows. */
export interface JobOfStep {
  readonly endpointId: EndpointId;
  readonly jobId?: JobId;
  readonly attempt?: number;
  readonly hostId?: HostId;
  readonly workerId?: WorkerId;
}

/**
 * The attributes of steps in a job's trace, named by the OpenTelemetry semantic conventions for messaging where those
 * have a name. Every process says the same.
 */
export const jobAttributes = ({ attempt, endpointId, hostId, jobId, workerId }: JobOfStep) => ({
  'messaging.system': 'berth',
  'messaging.destination.name': endpointId,
  ...(jobId === undefined ? {} : { 'messaging.message.id': jobId }),
  ...(attempt === undefined ? {} : { 'berth.job.attempt': attempt }),
  ...(hostId === undefined ? {} : { 'berth.host.id': hostId }),
  ...(workerId === undefined ? {} : { 'berth.worker.id': workerId }),
});

/** Names the step of an attempt within its job's trace: its host and its owner mean the same one. */
export const attemptStepName = ({ attempt, jobId }: { readonly jobId: JobId; readonly attempt: number }): string =>
  `attempt ${jobId} ${attempt}`;
