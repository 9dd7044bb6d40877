import type { Step, StepFacts } from './traces.port.js';

/** Does the work, and ends the step with it. @throws what the work throws */
export async function duringStep<T>(step: Step | null, facts: StepFacts, work: () => Promise<T>): Promise<T> {
  if (step === null) return work();
  try {
    const done = await work();
    step.end(facts);
    return done;
  } catch (error) {
    step.end({ ...facts, error: errorType(error) });
    throw error;
  }
}

/** Its kind alone: what it says may quote what somebody sent. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
