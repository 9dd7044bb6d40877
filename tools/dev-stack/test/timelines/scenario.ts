import { pollUntil } from '@berth/servers';
import type { TenantClient } from '../../src/tenant-client.js';
import { Timeline, type Scene, type Worker } from './timeline.js';
import { SAMPLE, WITHIN_MS } from './two-hosts.js';

const LOOK_MS = 100;

/** How a scenario begins: with an endpoint, and what it is to be seen under. */
export interface Beginning {
  readonly title: string;
  readonly name: string;
  readonly workers: { readonly min: number; readonly max: number };
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of each worker. */
  readonly vcpus?: number;
  /** More fields of the endpoint. */
  readonly more?: Readonly<Record<string, unknown>>;
}

interface Attempt {
  readonly hostId: string;
  readonly workerId: string;
  /** Null while it runs. */
  readonly outcome: string | null;
}

export interface Job {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  /** Its attempts, the first one first. */
  readonly history: readonly Attempt[];
}

/** An endpoint of one tenant, what the tenant does with it, and how it looks meanwhile. */
export class Scenario {
  readonly endpointId: string;
  readonly timeline: Timeline;
  readonly #client: TenantClient;

  private constructor(client: TenantClient, endpointId: string, title: string) {
    this.#client = client;
    this.endpointId = endpointId;
    this.timeline = new Timeline(client, endpointId, title);
  }

  /** @throws Error when the endpoint is refused */
  static async begin(client: TenantClient, beginning: Beginning): Promise<Scenario> {
    const { env, image = SAMPLE, more, name, title, vcpus = 2, workers } = beginning;
    const { body, status } = await client.manage<{ readonly id: string }>('POST', '/v2/serverless', {
      ...{ name, type: 'QUEUE', image, cpu: [{ id: 'cpu3c', vcpuCount: vcpus }], workers, env: variables(env) },
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      ...more,
    });
    if (status !== 201) throw new Error(`the endpoint was refused: ${status} ${JSON.stringify(body)}`);
    return new Scenario(client, body.id, title);
  }

  until(...scenes: readonly Scene[]): Promise<void> {
    return this.timeline.until(...scenes);
  }

  note(text: string): void {
    this.timeline.note(text);
  }

  async release(env: Readonly<Record<string, string>>): Promise<void> {
    await this.change({ env: variables(env) });
  }

  async change(fields: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#client.manage('PATCH', `/v2/serverless/${this.endpointId}`, fields);
  }

  async restart(workerId: string): Promise<Worker> {
    const path = `/v2/serverless/${this.endpointId}/workers/${workerId}/action`;
    return (await this.#client.manage<Worker>('POST', path, { action: 'restart' })).body;
  }

  async remove(): Promise<void> {
    await this.#client.manage('DELETE', `/v2/serverless/${this.endpointId}`);
  }

  submit(jobs: number, seconds: number): Promise<readonly string[]> {
    const one = async (): Promise<string> =>
      (await this.#client.job<Job>('POST', `/${this.endpointId}/run`, { input: { sleep: seconds } })).body.id;
    return Promise.all(Array.from({ length: jobs }, one));
  }

  /** The output of a job, once it has one. */
  async runSync<Answer>(input: object): Promise<Answer> {
    return (await this.#client.job<Answer>('POST', `/${this.endpointId}/runsync`, { input })).body;
  }

  async jobs(ids: readonly string[]): Promise<readonly Job[]> {
    return Promise.all(ids.map((id) => this.#job(id)));
  }

  /** The jobs, once all have ended. */
  async ended(ids: readonly string[]): Promise<readonly Job[]> {
    const one = (id: string): Promise<Job> =>
      pollUntil(
        async () => {
          const job = await this.#job(id);
          return ['IN_QUEUE', 'IN_PROGRESS'].includes(job.status) ? undefined : job;
        },
        { what: `the end of job ${id}`, deadlineMs: WITHIN_MS, intervalMs: LOOK_MS },
      );
    return Promise.all(ids.map(one));
  }

  /** The jobs, once all have ended. @throws Error when one of them has not completed */
  async allCompleted(ids: readonly string[]): Promise<readonly Job[]> {
    const jobs = await this.ended(ids);
    const other = jobs.find(({ status }) => status !== 'COMPLETED');
    if (other !== undefined) throw new Error(`job ${other.id} ended as ${other.status}`);
    return jobs;
  }

  async #job(id: string): Promise<Job> {
    return (await this.#client.job<Job>('GET', `/${this.endpointId}/requests/${id}`)).body;
  }
}

/** One job at a time, so that as many workers as jobs are wanted. */
const variables = (env: Readonly<Record<string, string>> = {}): object => ({ ECHO_SLOTS: '1', ...env });
