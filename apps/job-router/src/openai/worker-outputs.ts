import { jobKeyOf, sliceItems, sliceMembers, type Job, type JobKey, type RawJson } from '@berth/domain';
import { loadPayload, type JobStore } from '@berth/jobs';
import { jobNotFound } from '../ids.js';
import type { JobReader } from '../jobs/job-reader.service.js';
import { patiently } from '../patiently.js';

/** Finds what workers have left as the output of a job that was done. */
export class WorkerOutputs {
  readonly #store: JobStore;
  readonly #reader: JobReader;

  constructor(store: JobStore, reader: JobReader) {
    this.#store = store;
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
  async answerOf(job: Job): Promise<RawJson | null> {
    const output = await this.#outputOf(job);
    if (output !== null && !output.trimStart().startsWith('[')) return output;
    return (output === null ? undefined : sliceItems(output, 1)[0]) ?? (await this.#firstChunk(job));
  }

  async #outputOf(job: Job): Promise<RawJson | null> {
    const { output } = job;
    if (output === null) return null;
    const json = await patiently(this.#store, () => loadPayload(this.#store.blobs, jobKeyOf(job), output));
    // The parts outlive the record, so where they are gone the job has gone between the two reads.
    if (json === null) throw jobNotFound();
    return json === 'null' ? null : json;
  }

  async #firstChunk(job: Job): Promise<RawJson | null> {
    const query = { ...jobKeyOf(job), attempt: job.attempt, fromIndex: 0, limit: 1 };
    const [chunk] = await patiently(this.#store, () => this.#store.chunks.read(query));
    return chunk?.body.trimStart().startsWith('{') === true ? (sliceMembers(chunk.body).get('output') ?? null) : null;
  }
}
