import type { Clock } from '@berth/lifecycle';
import { AREAS, wrong, type Finding } from './finding.js';

/** One look at one thing. */
export interface Check {
  readonly area: Finding['area'];
  /** As whoever reads it knows it. */
  readonly what: string;
  /** @param signal aborts when nobody waits for it any more */
  readonly look: (signal: AbortSignal) => Promise<readonly Finding[]>;
}

/** For one check; the probes have shorter ones of their own, so that each says what did not answer. */
const CHECK_MAX_MS = 20_000;

/** Makes all checks side by side. None keeps another from being made, and none takes longer than 20 s. */
export async function runChecks(checks: readonly Check[], clock: Clock): Promise<readonly Finding[]> {
  const found = await Promise.all(checks.map((check) => findingsOf(check, clock)));
  return found.flat().toSorted((one, other) => AREAS.indexOf(one.area) - AREAS.indexOf(other.area));
}

async function findingsOf({ area, look, what }: Check, clock: Clock): Promise<readonly Finding[]> {
  const over = new AbortController();
  const { promise, resolve } = Promise.withResolvers<readonly Finding[]>();
  const stopWaiting = clock.after(CHECK_MAX_MS, () => {
    over.abort();
    resolve([wrong(area, `${what}: no answer`, 'is it overloaded, or is the way to it blocked? Look again')]);
  });
  try {
    return await Promise.race([look(over.signal), promise]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [wrong(area, `${what}: it could not be looked at: ${reason}`, 'look again; if it stays, report it')];
  } finally {
    stopWaiting();
    over.abort();
  }
}
