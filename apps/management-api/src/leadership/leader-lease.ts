import type { DataSource } from 'typeorm';
import type { Clock } from '@berth/lifecycle';

export interface LeaderLeaseOptions {
  /** Name of the office: one leader each. */
  readonly name: string;
  /** Unique to this process. */
  readonly holder: string;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** One reign, as the writes that belong to it name it. */
export interface LeaderTerm {
  readonly name: string;
  readonly number: number;
  /** True from the moment at which the lease is not trusted any more, or is of a later term. */
  isOver(): boolean;
}

/** The holder's own clock may run a little slower than the database's; what is left covers that and the last write. */
const TRUST_SHARE = 0.8;

/**
 * One leader at a time, by a row that its holder keeps renewing. The database's clock says when a lease is over; the
 * holder trusts its own lease only until `trustMs` after it *began* to ask, by its own monotonic clock, and so has
 * stopped before anyone else can have begun.
 */
export class LeaderLease {
  readonly #source: DataSource;
  readonly #options: LeaderLeaseOptions;
  #trustedUntilMs = Number.NEGATIVE_INFINITY;
  #term = 0;

  constructor(source: DataSource, options: LeaderLeaseOptions) {
    this.#source = source;
    this.#options = options;
  }

  isLeader(): boolean {
    return this.#options.clock.monotonicMs() < this.#trustedUntilMs;
  }

  /** The term held now; over from the start where none is held. Its number grows by one with every change of leader. */
  currentTerm(): LeaderTerm {
    const number = this.#term;
    return { name: this.#options.name, number, isOver: () => number !== this.#term || !this.isLeader() };
  }

  /** Takes or renews the lease; false while another holds it. */
  async acquire(): Promise<boolean> {
    const { clock, holder, leaseMs, name } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const rows = await this.#source.query<{ term: string }[]>(
      `INSERT INTO leader_leases AS l (name, holder, term, expires_at)
       VALUES ($1, $2, 1, now() + make_interval(secs => $3))
       ON CONFLICT (name) DO UPDATE
          SET holder = excluded.holder, expires_at = excluded.expires_at,
              term = CASE WHEN l.holder = excluded.holder THEN l.term ELSE l.term + 1 END
        WHERE l.holder = excluded.holder OR l.expires_at < now()
       RETURNING term`,
      [name, holder, leaseMs / 1000],
    );
    const [row] = rows;
    this.#trustedUntilMs = row === undefined ? Number.NEGATIVE_INFINITY : askedAtMs + leaseMs * TRUST_SHARE;
    if (row !== undefined) this.#term = Number(row.term);
    return row !== undefined;
  }

  /** Lets the next one begin at once. Nothing may be written after it. */
  async release(): Promise<void> {
    this.#trustedUntilMs = Number.NEGATIVE_INFINITY;
    const { holder, name } = this.#options;
    await this.#source.query(`UPDATE leader_leases SET expires_at = now() WHERE name = $1 AND holder = $2`, [
      name,
      holder,
    ]);
  }
}
