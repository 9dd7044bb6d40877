import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import {
  AuthorizationError,
  PermissionViolationError,
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import { loginOptions, serversOf, tlsOptions, type NatsCredentials } from '../connection.js';

/**
 * The clients that may speak for a host on a broker. `open`: anything that reaches it, without credentials.
 * `unlimited`: anything that has the credentials of this process, for the broker does not limit what their owner may
 * do.
 */
export type GuardFinding = 'guarded' | 'open' | 'unlimited';

export interface BrokerGuardOptions {
  readonly url: string;
  /** With which this process hears agents. */
  readonly credentials: NatsCredentials;
  /** The operator says that everybody on the broker may be believed; then it is not asked. */
  readonly isTrusted: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Above the five seconds after which a broker refuses whom nobody admits. */
const ANSWER_MS = 8_000;
const ASK_AGAIN_MS = 1_000;
const ASKING_MAX = 8;
/** Tries without an answer after which the log says so. */
const TRIES_UNSAID_MAX = 5;
const SETTLE_MS = 1_000;
/** A subject on which nobody listens, and that no agent may have as its own, however it is named. */
const SUBJECT_OF_NOBODY = 'agents.nobody.up.nothing';

const MISSING: Readonly<Record<Exclude<GuardFinding, 'guarded'>, string>> = {
  open: 'the broker lets anyone in, so anyone could speak for any host',
  unlimited: 'the broker does not limit what its users may say, so who has their credentials could speak for any host',
};

const UNKNOWN = 'it is not known yet whether the broker keeps hosts apart, for it could not be asked';

/**
 * Finds out whether a broker keeps hosts apart. The handlers of `take` and `done` know of their asker the host in the
 * subject, and only the broker can see to it that this is the asker's own.
 */
export class BrokerGuard {
  /** Whether agents may be heard; it takes as long as the broker, or its callout, is away. */
  readonly isOpen: Promise<boolean>;
  readonly #options: BrokerGuardOptions;
  readonly #stop = new AbortController();
  #missing: string | null;
  #unanswered = 0;

  constructor(options: BrokerGuardOptions) {
    this.#options = options;
    this.#missing = options.isTrusted ? null : UNKNOWN;
    this.isOpen = this.#decide();
  }

  /** Why agents are not heard, in words; empty while they are. */
  get missing(): readonly string[] {
    return this.#missing === null ? [] : [`agents are not heard: ${this.#missing}`];
  }

  /**
   * Resolves when it is known, or after a second: a start must not wait for a callout that is away. A process that
   * starts meanwhile is heard as soon as it is known.
   */
  async settle(): Promise<void> {
    const known = new AbortController();
    void this.isOpen.then(() => {
      known.abort();
    });
    await this.#options.clock.sleep(SETTLE_MS, known.signal);
  }

  /** Ends the asking. */
  stop(): void {
    this.#stop.abort();
  }

  async #decide(): Promise<boolean> {
    const { isTrusted, logger } = this.#options;
    if (isTrusted) {
      logger.warn('BERTH_TRUSTED_BROKER=on: every message is believed to be of the host that it names');
      return true;
    }
    const finding = await this.#find();
    if (finding === null) return false;
    if (finding === 'guarded') {
      this.#missing = null;
      return true;
    }
    this.#missing = MISSING[finding];
    logger.error(
      `agents are not heard: ${this.#missing}. Give it an auth callout and a user for each role, or say BERTH_TRUSTED_BROKER=on`,
    );
    return false;
  }

  /** Null when it was stopped first. */
  async #find(): Promise<GuardFinding | null> {
    const isOpen = await this.#firstAnswer(() => isLetIn(this.#options.url));
    if (isOpen !== false) return isOpen === null ? null : 'open';
    const isUnlimited = await this.#firstAnswer(() => maySpeakForHosts(this.#options));
    if (isUnlimited === null) return null;
    return isUnlimited ? 'unlimited' : 'guarded';
  }

  /**
   * Asks again each second while earlier tries still wait: a callout that has just come answers a new one at once, and
   * the others are refused only when their time is over.
   */
  async #firstAnswer(ask: () => Promise<boolean | null>): Promise<boolean | null> {
    const { signal } = this.#stop;
    const answered = new AbortController();
    const until = AbortSignal.any([signal, answered.signal]);
    let answer: boolean | null = null;
    let asking = 0;
    while (!until.aborted) {
      if (asking < ASKING_MAX) {
        asking += 1;
        void ask().then((result) => {
          asking -= 1;
          if (until.aborted) return;
          if (result === null) {
            this.#noteUnanswered();
            return;
          }
          answer = result;
          answered.abort();
        });
      }
      await this.#options.clock.sleep(ASK_AGAIN_MS, until);
    }
    return answer;
  }

  /** A broker that gives no answer counts as unguarded until it gives one; where that lasts, the log says so. */
  #noteUnanswered(): void {
    this.#unanswered += 1;
    if (this.#unanswered !== TRIES_UNSAID_MAX) return;
    this.#options.logger.error(`agents are not heard: ${UNKNOWN}; it is asked on`);
  }
}

/** A broker that waits for a handshake answers nobody who does not begin with one. */
const guardOf = (url: string): NodeConnectionOptions => ({
  servers: serversOf(url),
  name: 'guard',
  ...tlsOptions(url),
});

/** Whether the broker lets somebody in who says nothing of himself; null when it could not be asked. */
async function isLetIn(url: string): Promise<boolean | null> {
  try {
    const stranger = await connect({ ...guardOf(url), reconnect: false, timeout: ANSWER_MS });
    await stranger.close();
    return true;
  } catch (error) {
    return error instanceof AuthorizationError ? false : null;
  }
}

/** Over a connection of its own: the refusal that is hoped for is none of the other connections' business. */
async function maySpeakForHosts({ clock, credentials, url }: BrokerGuardOptions): Promise<boolean | null> {
  const own = { ...guardOf(url), ...loginOptions(credentials) };
  try {
    const connection = await connect({ ...own, reconnect: false, timeout: ANSWER_MS });
    const inTime = new AbortController();
    try {
      const late = clock.sleep(ANSWER_MS, inTime.signal).then(() => null);
      return await Promise.race([isLetThrough(connection), late]);
    } finally {
      inTime.abort();
      await connection.close();
    }
  } catch {
    return null;
  }
}

/** The broker's own word: what somebody who listens there answers, or does not, changes nothing. */
async function isLetThrough(connection: NatsConnection): Promise<boolean> {
  let isForbidden = false;
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'error' && status.error instanceof PermissionViolationError) isForbidden = true;
    }
  })();
  connection.publish(SUBJECT_OF_NOBODY);
  // A refusal comes before the answer to the first, and has been heard when the second is answered.
  await connection.flush();
  await connection.flush();
  return !isForbidden;
}
