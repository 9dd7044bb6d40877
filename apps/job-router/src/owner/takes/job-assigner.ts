import type { AssignedJob } from '@berth/contracts';
import {
  viewAssignment,
  type AttemptGiven,
  type CommandOutcome,
  type EndpointId,
  type EndpointState,
  type TakeWish,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { OwnedLogs } from '../logs/endpoint-logs.js';
import type { GivenJobs, JobGiving, SeenAssignments } from './waiting-takes.port.js';
import type { LogPayloads } from '../logs/log-payloads.js';
import { retryMoved } from '../logs/retry-moved.js';

export interface JobAssignerOptions {
  readonly logs: Pick<OwnedLogs, 'performViewed' | 'read'>;
  readonly payloads: Pick<LogPayloads, 'body'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Gives jobs to workers that wait, and tells them what they need to run them. */
export class JobAssigner implements JobGiving {
  readonly #options: JobAssignerOptions;

  constructor(options: JobAssignerOptions) {
    this.#options = options;
  }

  /** With how the jobs are by the very command that gives them: a look at them later would wait for what is written then. */
  async give(endpointId: EndpointId, wishes: readonly TakeWish[]): Promise<readonly GivenJobs[] | 'silent'> {
    const { clock, logs } = this.#options;
    const command = { kind: 'take', sentAtMs: clock.nowMs(), wishes } as const;
    const said = await logs.performViewed(endpointId, { command, view: viewGiven });
    return said !== 'silent' && said.kind === 'answer' ? (said.answer.view ?? 'silent') : 'silent';
  }

  /** @throws PlatformError `service-unavailable` when a body cannot be read */
  async assign(endpointId: EndpointId, { jobs, seen }: GivenJobs): Promise<readonly AssignedJob[] | 'silent'> {
    const looks = seen === undefined ? [] : [seen];
    const said = await retryMoved(
      async () => {
        const known = looks.pop();
        if (known !== undefined) return { kind: 'answer', answer: known };
        return this.#options.logs.read(endpointId, (state, atMs) => assignmentsOf(state, jobs, atMs));
      },
      (assignments) => this.#withBodies(endpointId, assignments),
    );
    return said !== 'silent' && said.kind === 'answer' ? said.answer : 'silent';
  }

  async #withBodies(
    endpointId: EndpointId,
    { atMs, list }: SeenAssignments,
  ): Promise<readonly AssignedJob[] | 'moved'> {
    const { clock, payloads } = this.#options;
    const bodies = await Promise.all(list.map(({ body }) => payloads.body(endpointId, body)));
    const lateMs = Math.max(0, clock.nowMs() - atMs);
    const assigned: AssignedJob[] = [];
    for (const [index, assignment] of list.entries()) {
      const body = bodies[index];
      if (body === undefined || body === 'moved') return 'moved';
      const { attempt, delayTimeMs, executionTimeoutMs, expiresInMs, jobId, retries, token } = assignment;
      assigned.push({
        ...{ jobId, attempt, token, body, delayTimeMs, retries },
        executionTimeoutMs: Math.max(1, executionTimeoutMs - lateMs),
        expiresInMs: Math.max(1, expiresInMs - lateMs),
      });
    }
    return assigned;
  }
}

const assignmentsOf = (state: EndpointState, jobs: readonly AttemptGiven[], atMs: number): SeenAssignments => ({
  atMs,
  list: jobs.flatMap(({ attempt, jobId, token }) => {
    const assignment = viewAssignment(state, jobId, atMs);
    return assignment?.attempt === attempt && assignment.token === token ? [assignment] : [];
  }),
});

/** The answer that each wish got; null where the command came to something else. */
const viewGiven = (state: EndpointState, outcome: CommandOutcome, atMs: number): readonly GivenJobs[] | null =>
  outcome.kind === 'takes' ? outcome.takes.map(({ jobs }) => ({ jobs, seen: assignmentsOf(state, jobs, atMs) })) : null;
