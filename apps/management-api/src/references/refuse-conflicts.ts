import { PlatformError, describeFailures, type FieldFailure } from '@berth/domain';

/** @throws PlatformError `rule-conflict` with every failure, where there is one */
export function refuseConflicts(failures: readonly FieldFailure[]): void {
  const errors = describeFailures(failures);
  const [first] = errors;
  if (first === undefined) return;
  throw new PlatformError('rule-conflict', `The fields contradict each other: ${first}.`, { errors });
}
