import { cleanText } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { AuthRequest } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { NodeFault } from '../node-tokens/index.js';

/** Why an agent was not let in. */
export type AdmissionFault =
  | 'nameless' // no name, or no secret: our own processes knock so, too, to see that nobody is let in who does
  | 'no-host' // a name or token that no host can have
  | 'unknown' // no such host, another secret, or a token that is not good
  | 'other-issuer' // the broker trusts none of our issuers, and would not hear us
  | 'busy' // more agents wait to be let in than may
  | NodeFault;

export interface RefusedAgentsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each refusal, to be counted. */
  readonly onRefused?: (fault: AdmissionFault) => void;
}

const LOG_AGAIN_MS = 60_000;
/** Names that are told apart within that time; those above are counted only. */
const NAMES_MAX = 1_000;
/** The stranger chooses the name, so no more of it is kept or shown. */
const NAME_CHARACTERS_MAX = 100;

/** Counts who is refused, and logs each name once a minute: who is refused may knock without end. */
export class RefusedAgents {
  readonly #options: RefusedAgentsOptions;
  /** When each name was logged, oldest first. */
  readonly #loggedAtMs = new Map<string, number>();

  constructor(options: RefusedAgentsOptions) {
    this.#options = options;
  }

  note(fault: AdmissionFault, { address = '', user = '' }: Partial<Pick<AuthRequest, 'address' | 'user'>>): void {
    const { logger, onRefused } = this.#options;
    onRefused?.(fault);
    const name = cleanText(user, NAME_CHARACTERS_MAX);
    if (!this.#isNews(name)) return;
    if (fault === 'nameless') logger.info('a connection without a name was refused', { address });
    else logger.warn('agent refused; this name is logged once a minute', { user: name, address, fault });
  }

  #isNews(name: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [each, atMs] of this.#loggedAtMs) {
      if (nowMs - atMs < LOG_AGAIN_MS) break;
      this.#loggedAtMs.delete(each);
    }
    if (this.#loggedAtMs.has(name) || this.#loggedAtMs.size >= NAMES_MAX) return false;
    this.#loggedAtMs.set(name, nowMs);
    return true;
  }
}
