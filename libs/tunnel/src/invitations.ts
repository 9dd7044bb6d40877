import type { HostId } from '@berth/domain';

/** What a host needs to open one tunnel. Both come to it over the broker, which knows hosts from one another. */
export interface Invitation {
  /** Names it, openly: the host says it in the clear. */
  readonly ticket: string;
  /** 32 bytes that prove both sides to each other. */
  readonly key: Uint8Array;
}

interface Issued extends Invitation {
  readonly hostId: HostId;
  readonly untilMs: number;
}

/** How long an invitation is good for. */
const INVITATION_MS = 15_000;

/** The invitations that are open: one of each host at most, good once. Instants are monotonic. */
export class Invitations {
  readonly #byTicket = new Map<string, Issued>();
  readonly #tickets = new Map<HostId, string>();

  /** Takes the place of the host's last one. */
  issue(hostId: HostId, invitation: Invitation, nowMs: number): void {
    this.#forgetStale(nowMs);
    const last = this.#tickets.get(hostId);
    if (last !== undefined) this.#byTicket.delete(last);
    this.#tickets.set(hostId, invitation.ticket);
    this.#byTicket.set(invitation.ticket, { ...invitation, hostId, untilMs: nowMs + INVITATION_MS });
  }

  /** The host's own that it may still use; null: it has none. */
  openOf(hostId: HostId, nowMs: number): Invitation | null {
    this.#forgetStale(nowMs);
    const issued = this.#byTicket.get(this.#tickets.get(hostId) ?? '');
    return issued === undefined ? null : { ticket: issued.ticket, key: issued.key };
  }

  /** Uses it up. Null: it was never issued, is too old, was replaced or has been used. */
  take(ticket: string, nowMs: number): { readonly hostId: HostId; readonly key: Uint8Array } | null {
    this.#forgetStale(nowMs);
    const issued = this.#byTicket.get(ticket);
    if (issued === undefined) return null;
    this.#forget(issued);
    return { hostId: issued.hostId, key: issued.key };
  }

  #forgetStale(nowMs: number): void {
    // In the order in which they were issued, so the first that is good ends it.
    for (const issued of this.#byTicket.values()) {
      if (nowMs < issued.untilMs) return;
      this.#forget(issued);
    }
  }

  #forget({ hostId, ticket }: Issued): void {
    this.#byTicket.delete(ticket);
    if (this.#tickets.get(hostId) === ticket) this.#tickets.delete(hostId);
  }
}
