import type { DescribedJob, FoundJob, ListedJob, ToldDelivery } from '@berth/contracts';
import type { CommandOutcome, EndpointId, JobCounts, JobKey, JobSight, RawJson, Slice } from '@berth/domain';
import { loadPayload, type Blobs, type Chunks } from '@berth/payloads';
import type { Clock, Random } from '@berth/lifecycle';
import { jobNotFound } from '../platform/index.js';
import {
  Jobs,
  type FindOptions,
  type JobBrief,
  type JobNews,
  type JobWatch,
  type JobsAccepted,
  type JobsQuery,
  type JobsRequest,
  type StreamChunk,
} from './jobs.port.js';
import { type Owners, retryUnavailable } from '../owners/index.js';
import type { JobSubmissions } from './job-submissions.js';
import type { JobWatches } from './job-watches.js';
import type { OwnerCommands, UnsentCommand } from './owner-commands.js';

export interface OwnedJobsOptions {
  readonly owners: Owners;
  readonly commands: Pick<OwnerCommands, 'perform'>;
  readonly submissions: Pick<JobSubmissions, 'submit'>;
  readonly watches: Pick<JobWatches, 'watch' | 'watcherOf'>;
  readonly blobs: Pick<Blobs, 'read'>;
  readonly chunks: Pick<Chunks, 'read'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Jobs as the owners of their endpoints know them, from any router. An owner knows all of them, or says nothing. */
export class OwnedJobs extends Jobs {
  readonly #options: OwnedJobsOptions;

  constructor(options: OwnedJobsOptions) {
    super();
    this.#options = options;
  }

  override submit(request: JobsRequest): Promise<JobsAccepted> {
    return this.#options.submissions.submit(request);
  }

  /** The owner is told again, with each question, of the callers that are held here for the job. */
  override find(key: JobKey, { wantsTrace = false }: FindOptions = {}): Promise<FoundJob | null> {
    const { owners, watches } = this.#options;
    const question = { jobId: key.jobId, watcher: watches.watcherOf(key), ...(wantsTrace && { wantsTrace }) };
    return owners.ask(key.endpointId, 'find', question);
  }

  override watch(key: JobKey, news: JobNews): JobWatch {
    return this.#options.watches.watch(key, news);
  }

  override async outputOf({ endpointId, jobId, output }: JobSight): Promise<RawJson | null> {
    if (output === null) return null;
    return retryUnavailable(this.#options, () => loadPayload(this.#options.blobs, { endpointId, jobId }, output));
  }

  override async chunks(query: Parameters<Jobs['chunks']>[0]): Promise<readonly StreamChunk[]> {
    const chunks = await retryUnavailable(this.#options, () => this.#options.chunks.read(query));
    return chunks.map(({ body, index }) => ({ index, body }));
  }

  override cancel({ endpointId, jobId }: JobKey): Promise<JobBrief> {
    return this.#change(endpointId, { kind: 'cancel', jobId });
  }

  override retry({ endpointId, jobId }: JobKey): Promise<JobBrief> {
    return this.#change(endpointId, { kind: 'retry', jobId, retryId: this.#options.random.uuid() });
  }

  override async replaceLife({ endpointId, jobId }: JobKey, leftMs: number): Promise<void> {
    await this.#change(endpointId, { kind: 'replace-life', jobId, leftMs });
  }

  override async purge(endpointId: EndpointId): Promise<number> {
    const purge = { kind: 'purge', purgeId: this.#options.random.uuid() } as const;
    const { removed } = await this.#options.commands.perform(endpointId, purge, ['purged']);
    return removed;
  }

  override counts(endpointId: EndpointId): Promise<JobCounts> {
    return this.#options.owners.ask(endpointId, 'count', {});
  }

  override list(endpointId: EndpointId, { statuses, ...query }: JobsQuery): Promise<Slice<ListedJob>> {
    return this.#options.owners.ask(endpointId, 'list', { ...query, statuses: [...statuses] });
  }

  override describe({ endpointId, jobId }: JobKey): Promise<DescribedJob | null> {
    return this.#options.owners.ask(endpointId, 'describe', { jobId });
  }

  override async deliveries({ endpointId, jobId }: JobKey): Promise<readonly ToldDelivery[]> {
    const deliveries = await this.#options.owners.ask(endpointId, 'deliveries', { jobId });
    if (deliveries === null) throw jobNotFound();
    return deliveries;
  }

  async #change(endpointId: EndpointId, command: UnsentCommand): Promise<JobBrief> {
    const { jobId, state }: Extract<CommandOutcome, { readonly kind: 'job' }> = await this.#options.commands.perform(
      endpointId,
      command,
      ['job'],
    );
    return { jobId, state };
  }
}
