/** What a suite needs besides the port itself. Openers share one store between the tests of a suite or make one each. */
export interface Conforming<Port> {
  readonly port: Port;
  /**
   * Lets at least `ms` pass for the store: a manual clock moves, a real one is waited for by the assertions that follow,
   * which repeat until they hold.
   */
  elapse(ms: number): Promise<void>;
}

export type Open<Port> = () => Promise<Conforming<Port>>;

/** Lives in these suites are short, but whole seconds: the broker knows nothing finer. */
export const SHORT_LIFE_MS = 1_000;
export const LONG_LIFE_MS = 3_600_000;
