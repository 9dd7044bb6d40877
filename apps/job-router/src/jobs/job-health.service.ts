import { encodeJson, type EndpointId, type RawJson } from '@berth/domain';
import type { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import type { JobView } from '../job-view/job-view.service.js';

/** The counts of `/health`: of jobs from this router's view, of workers from the assignments. */
export class JobHealth {
  readonly #view: JobView;
  readonly #directory: EndpointDirectory;

  constructor(view: JobView, directory: EndpointDirectory) {
    this.#view = view;
    this.#directory = directory;
  }

  /** A job that ran out of time has failed as far as these counts go: the specification has no fifth word for it. */
  async read(endpointId: EndpointId): Promise<RawJson> {
    const { completed, failed, timedOut, inProgress, inQueue, retried } = this.#view.counts(endpointId);
    const workers = await this.#directory.workerCounts(endpointId);
    return encodeJson({
      jobs: { completed, failed: failed + timedOut, inProgress, inQueue, retried },
      workers,
    });
  }
}
