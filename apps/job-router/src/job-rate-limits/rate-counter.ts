import { SlidingCount, type EndpointId, type JobOperation } from '@berth/domain';

interface Elsewhere {
  readonly inFlight: number;
  readonly heardAtMs: number;
}

/** The requests that count against the limits of one operation of one endpoint, here and at the other routers. */
export class RateCounter {
  readonly endpointId: EndpointId;
  readonly operation: JobOperation;
  readonly window = new SlidingCount();
  /** Admitted here, and not told to the others yet. */
  untold = 0;
  #here = 0;
  #elsewhere = 0;
  readonly #routers = new Map<string, Elsewhere>();

  constructor(endpointId: EndpointId, operation: JobOperation) {
    this.endpointId = endpointId;
    this.operation = operation;
  }

  get inFlight(): number {
    return this.#here + this.#elsewhere;
  }

  get inFlightHere(): number {
    return this.#here;
  }

  begin(): void {
    this.#here += 1;
  }

  end(): void {
    this.#here -= 1;
  }

  hear(routerId: string, { admitted, inFlight }: { admitted: number; inFlight: number }, nowMs: number): void {
    this.window.add(admitted, nowMs);
    this.#elsewhere += inFlight - (this.#routers.get(routerId)?.inFlight ?? 0);
    if (inFlight > 0) this.#routers.set(routerId, { inFlight, heardAtMs: nowMs });
    else this.#routers.delete(routerId);
  }

  /** The requests in flight at a router that has fallen silent are not known any more. */
  forgetSilent(sinceMs: number): void {
    for (const [routerId, { heardAtMs, inFlight }] of this.#routers) {
      if (heardAtMs >= sinceMs) continue;
      this.#elsewhere -= inFlight;
      this.#routers.delete(routerId);
    }
  }

  /** True when it counts nothing: one made anew would say the same. */
  isIdle(nowMs: number): boolean {
    return this.inFlight === 0 && this.untold === 0 && this.window.sum(nowMs) === 0;
  }
}
