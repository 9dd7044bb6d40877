/** One rule that a request breaks. */
export interface FieldFailure {
  /** `$` and the path of the field in the request's own words, as `$.gpu.excludedTypes[0]`. */
  readonly path: string;
  /** A sentence without its full stop that says what to change. */
  readonly reason: string;
}

export const failure = (path: string, reason: string): FieldFailure => ({ path, reason });

/** `$.path: reason`, as the `errors` of an answer list them. */
export const describeFailures = (failures: readonly FieldFailure[]): readonly string[] =>
  failures.map(({ path, reason }) => `${path}: ${reason}`);
