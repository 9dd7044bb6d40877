import { hostOfSubject } from '@berth/contracts';
import {
  admitQuestion,
  endQuestion,
  startAsking,
  type Asking,
  type AskingFault,
  type AskingLimit,
  type AskingVerdict,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';

export interface HostQuestionsOptions {
  /** The questions of a kind that one host may ask. */
  readonly limitOf: (verb: string) => AskingLimit;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each refusal, to be counted. */
  readonly onRefused?: (fault: AskingFault) => void;
}

/** One host's questions, by verb. */
interface Asker {
  readonly byVerb: Map<string, Asking>;
  lastAskedAtMs: number;
  loggedAtMs: number | null;
}

/** Hosts that are told apart; those above share what one may ask. */
const HOSTS_MAX = 20_000;
/** Long after every rate has filled again, so forgetting such a host gives it nothing. */
const IDLE_MS = 60_000;
const LOG_AGAIN_MS = 60_000;
/** No host: an id has no such character. */
const ALL_OTHERS = '*';

/** Keeps one host from asking more than a process can answer beside what the others ask: in messages, or in what they list. */
export class HostQuestions {
  readonly #options: HostQuestionsOptions;
  readonly #askers = new Map<string, Asker>();
  #sweptAtMs: number;

  constructor(options: HostQuestionsOptions) {
    this.#options = options;
    this.#sweptAtMs = options.clock.monotonicMs();
  }

  /**
   * What to call once the question is answered, or so many of its `count` entries; null when it is refused.
   *
   * @param subject on which it came
   */
  begin(subject: string, count = 1): ((ended?: number) => void) | null {
    const verb = subject.slice(subject.lastIndexOf('.') + 1);
    const nowMs = this.#options.clock.monotonicMs();
    const asker = this.#askerOf(hostOfSubject(subject), nowMs);
    const limit = this.#options.limitOf(verb);
    const { asking, fault } = admitMany(asker.byVerb.get(verb) ?? startAsking(limit, nowMs), count, (each) =>
      admitQuestion(each, limit, nowMs),
    );
    asker.byVerb.set(verb, asking);
    asker.lastAskedAtMs = nowMs;
    if (fault !== null) {
      this.#refuse(asker, { fault, subject, nowMs });
      return null;
    }
    return (ended = count) => {
      let present = asker.byVerb.get(verb);
      for (let left = ended; left > 0 && present !== undefined; left -= 1) present = endQuestion(present);
      if (present !== undefined) asker.byVerb.set(verb, present);
    };
  }

  #askerOf(hostId: string, nowMs: number): Asker {
    const known = this.#askers.get(hostId);
    if (known !== undefined) return known;
    if (nowMs - this.#sweptAtMs >= IDLE_MS) this.#forgetIdle(nowMs);
    if (this.#askers.size >= HOSTS_MAX && hostId !== ALL_OTHERS) return this.#askerOf(ALL_OTHERS, nowMs);
    const asker: Asker = { byVerb: new Map(), lastAskedAtMs: nowMs, loggedAtMs: null };
    this.#askers.set(hostId, asker);
    return asker;
  }

  #forgetIdle(nowMs: number): void {
    this.#sweptAtMs = nowMs;
    for (const [hostId, { byVerb, lastAskedAtMs }] of this.#askers) {
      const isQuiet = [...byVerb.values()].every(({ underWay }) => underWay === 0);
      if (isQuiet && nowMs - lastAskedAtMs >= IDLE_MS) this.#askers.delete(hostId);
    }
  }

  #refuse(
    asker: Asker,
    { fault, nowMs, subject }: { readonly fault: AskingFault; readonly subject: string; readonly nowMs: number },
  ): void {
    this.#options.onRefused?.(fault);
    if (asker.loggedAtMs !== null && nowMs - asker.loggedAtMs < LOG_AGAIN_MS) return;
    asker.loggedAtMs = nowMs;
    this.#options.logger.warn('a host asks more than it may and is refused; it is logged once a minute', {
      fault,
      subject,
    });
  }
}

/** All of them or none. */
function admitMany(asking: Asking, count: number, admit: (asking: Asking) => AskingVerdict): AskingVerdict {
  let present = asking;
  for (let admitted = 0; admitted < count; admitted += 1) {
    const verdict = admit(present);
    if (verdict.fault !== null) return { fault: verdict.fault, asking: admitted === 0 ? verdict.asking : asking };
    present = verdict.asking;
  }
  return { fault: null, asking: present };
}
