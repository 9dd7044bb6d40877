import { sliceItems, sliceMembers, type JobKey, type JobSight, type RawJson } from '@berth/domain';
import type { Jobs } from '../edge/index.js';
import type { JobReader } from '../jobs/index.js';

/** Finds what workers have left as the output of a job that was done. */
export class WorkerOutputs {
  readonly #jobs: Pick<Jobs, 'chunks'>;
  readonly #reader: JobReader;

  constructor(jobs: Pick<Jobs, 'chunks'>, reader: JobReader) {
    this.#jobs = jobs;
    this.#reader = reader;
  }

  /** The output as its worker wrote it; null where there is none. @throws PlatformError `job-not-found` */
  async read(key: JobKey): Promise<RawJson | null> {
    return this.#outputOf(await this.#reader.read(key));
  }

  /**
   * The one answer of a request that did not ask for a stream. Workers of this interface are generators, so it is the
   * first item of their list, or their first chunk where they keep no list. No answer of the interface is a list.
   */
  async answerOf(job: JobSight): Promise<RawJson | null> {
    const output = await this.#outputOf(job);
    if (output !== null && !output.trimStart().startsWith('[')) return output;
    return (output === null ? undefined : sliceItems(output, 1)[0]) ?? (await this.#firstChunk(job));
  }

  async #outputOf(job: JobSight): Promise<RawJson | null> {
    const json = await this.#reader.outputOf(job);
    return json === 'null' ? null : json;
  }

  async #firstChunk({ attempt, endpointId, jobId }: JobSight): Promise<RawJson | null> {
    const [chunk] = await this.#jobs.chunks({ endpointId, jobId, attempt, fromIndex: 0, limit: 1 });
    return chunk?.body.trimStart().startsWith('{') === true ? (sliceMembers(chunk.body).get('output') ?? null) : null;
  }
}
