import { replyFault, type ReplyFault } from '@berth/contracts';
import type { Logger } from '@berth/telemetry';
import type { Msg } from '@nats-io/transport-node';

export interface RefusedRepliesOptions {
  readonly logger: Logger;
  /** Told of each refusal, to be counted. */
  readonly onRefused?: (fault: ReplyFault) => void;
}

/** Askers that are remembered, so that each is logged once; who comes after them is counted only. */
const ASKERS_MAX = 1_000;
/** The asker names the place, so no more of it goes into the log. */
const SHOWN_CHARACTERS_MAX = 100;

/** Keeps questions from being handled whose answers would be written where their askers may not write. */
export class RefusedReplies {
  readonly #options: RefusedRepliesOptions;
  readonly #known = new Set<string>();

  constructor(options: RefusedRepliesOptions) {
    this.#options = options;
  }

  /** The subject to answer to; null when the question is refused. */
  admit({ reply, subject }: Pick<Msg, 'reply' | 'subject'>, inbox: string): string | null {
    const fault = replyFault(reply, inbox);
    if (fault === null && reply !== undefined) return reply;
    if (fault !== null) this.#refuse(fault, { inbox, subject, reply: reply ?? '' });
    return null;
  }

  #refuse(fault: ReplyFault, { inbox, subject, reply }: Readonly<Record<'inbox' | 'subject' | 'reply', string>>): void {
    this.#options.onRefused?.(fault);
    if (this.#known.has(inbox) || this.#known.size >= ASKERS_MAX) return;
    this.#known.add(inbox);
    this.#options.logger.warn('a question was refused: its answer may not go there; this asker is not logged again', {
      fault,
      subject: subject.slice(0, SHOWN_CHARACTERS_MAX),
      reply: reply.slice(0, SHOWN_CHARACTERS_MAX),
    });
  }
}
