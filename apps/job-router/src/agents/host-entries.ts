import { jobSubject } from '@berth/contracts';
import { PlatformError, type AskingFault, type HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { HostQuestions, entryLimit } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';

export interface HostEntriesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each refusal, to be counted. */
  readonly onRefused: (fault: AskingFault) => void;
}

/** Bounds what one host lists in its messages: a list must not be a way around the bounds of its questions. */
export class HostEntries {
  readonly #questions: HostQuestions;

  constructor(options: HostEntriesOptions) {
    this.#questions = new HostQuestions({ ...options, limitOf: entryLimit });
  }

  /**
   * What to call for the entries that have been answered.
   *
   * @throws PlatformError `rate-limited`
   */
  begin(hostId: HostId, verb: 'take' | 'done', count: number): (answered: number) => void {
    const end = this.#questions.begin(jobSubject(hostId, verb), count);
    if (end === null)
      throw new PlatformError('rate-limited', 'This host lists more than one host may; ask again later.');
    return end;
  }
}
