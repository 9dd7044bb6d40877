import { isEnded, jobKeyOf, type Job, type JobKey, type Payload } from '@berth/domain';
import type { JobRecords, StoredJob, WriteOutcome } from './ports/job-records.port.js';

/** Records that also remember what this process wrote last. */
export interface RecallableRecords extends JobRecords {
  /**
   * The version that this process wrote last, which others may have replaced since: good as the base of a
   * compare-and-set, never as an answer. Null: nothing is remembered.
   */
  recall(key: JobKey): StoredJob | null;
}

/**
 * A job is mostly changed by the process that changed it last, a moment before. Where that holds, a change costs one
 * write and no read (ADR 0027); where it does not, the write conflicts and the record is read.
 */
export function recallable(records: JobRecords): RecallableRecords {
  const recent = new RecentVersions();
  const remember = async (job: Job, writing: Promise<WriteOutcome>): Promise<WriteOutcome> => {
    const outcome = await writing;
    // An ended job hardly ever changes again; what became of any other is not known here.
    if (outcome.kind === 'written' && !isEnded(job.state)) recent.keep({ job, sequence: outcome.sequence });
    else recent.drop(jobKeyOf(job));
    return outcome;
  };
  return {
    recall: (key) => recent.find(key),
    read: (key) => records.read(key),
    create: (job, ttlMs) => remember(job, records.create(job, ttlMs)),
    replace: (job, expectedSequence, ttlMs) => remember(job, records.replace(job, expectedSequence, ttlMs)),
  };
}

/** About 30,000 jobs with small inputs. */
const REMEMBERED_MAX_BYTES = 32 * 1024 * 1024;
/** What a job takes besides its payloads, about. */
const BARE_JOB_BYTES = 1_024;

/** The newest that are known, by job; those written longest ago go first. */
class RecentVersions {
  readonly #versions = new Map<string, StoredJob>();
  #sizeBytes = 0;

  find(key: JobKey): StoredJob | null {
    return this.#versions.get(nameOf(key)) ?? null;
  }

  keep(stored: StoredJob): void {
    const key = jobKeyOf(stored.job);
    if ((this.find(key)?.sequence ?? 0) > stored.sequence) return;
    this.drop(key);
    this.#versions.set(nameOf(key), stored);
    this.#sizeBytes += sizeOf(stored.job);
    for (const oldest of this.#versions.values()) {
      if (this.#sizeBytes <= REMEMBERED_MAX_BYTES) return;
      this.drop(jobKeyOf(oldest.job));
    }
  }

  drop(key: JobKey): void {
    const known = this.find(key);
    if (known === null) return;
    this.#versions.delete(nameOf(key));
    this.#sizeBytes -= sizeOf(known.job);
  }
}

const nameOf = ({ endpointId, jobId }: JobKey): string => `${endpointId}/${jobId}`;

const sizeOf = ({ input, output, extras }: Job): number =>
  BARE_JOB_BYTES + inlineBytes(input) + inlineBytes(output) + extras.length;

const inlineBytes = (payload: Payload | null): number => (payload?.kind === 'inline' ? payload.json.length : 0);
