import type { EndpointId } from '@berth/domain';

/** A stack of the attackers' own machine; all of its addresses are on loopback. */
export interface AttackTarget {
  readonly baseUrl: string;
  readonly runUrl: string;
  readonly natsUrl: string;
  readonly victimEndpointId: EndpointId;
  /** A paying customer with bad intentions: key and endpoint of an account of its own. */
  readonly tenant: { readonly apiKey: string; readonly endpointId: EndpointId };
  /** With which a host of the attacker joins, as one does whose machine was taken over. */
  readonly joinToken: string;
}

/** What an attack did and what it was answered, by name. */
export class Tally {
  readonly #counts = new Map<string, number>();

  note(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => a.localeCompare(b)));
  }
}

export interface Attacking {
  readonly target: AttackTarget;
  readonly tally: Tally;
  /** Aborts when it is over; every attack is bounded in rate besides. */
  readonly signal: AbortSignal;
}

/** Goes on until its signal aborts. What the attacked side refuses is its result, not a failure. */
export type Attack = (attacking: Attacking) => Promise<void>;
