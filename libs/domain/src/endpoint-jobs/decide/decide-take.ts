import type { AttemptGiven, CommandDecision, TakeAnswered, TakeCommand } from '../commands.js';
import type { TakenFact } from '../facts.js';
import type { EndpointState, LivingJob } from '../state.js';
import { decided } from './outcome.js';
import { FreeSlots } from './free-slots.js';

/**
 * Gives waiting jobs to waiting workers: normal jobs before those of low priority, each in the order of its queueing. A
 * take that was answered before is answered as it was, but for what is over by now.
 */
export function decideTake(state: EndpointState, { wishes }: TakeCommand, atMs: number): CommandDecision {
  const seats = new FreeSlots(state, wishes);
  const facts: TakenFact[] = [];
  for (const job of readyJobs(state)) {
    const seat = seats.next();
    if (seat === null) break;
    const { attempt, jobId } = job.data;
    facts.push({ kind: 'taken', atMs, jobId, taking: { attempt, ...seat } });
  }
  const given = givenBy(facts);
  const takes = wishes.map(({ takeId }): TakeAnswered => ({
    takeId,
    jobs: given.get(takeId) ?? givenBefore(state, takeId),
  }));
  return decided({ kind: 'takes', takes }, facts);
}

function* readyJobs({ low, normal }: EndpointState): Generator<LivingJob> {
  yield* normal.ready.forwards();
  yield* low.ready.forwards();
}

/** By take id. */
function givenBy(facts: readonly TakenFact[]): ReadonlyMap<string, readonly AttemptGiven[]> {
  const given = new Map<string, AttemptGiven[]>();
  for (const { jobId, taking } of facts) {
    const { attempt, takeId, token } = taking;
    const jobs = given.get(takeId);
    if (jobs === undefined) given.set(takeId, [{ jobId, attempt, token }]);
    else jobs.push({ jobId, attempt, token });
  }
  return given;
}

function givenBefore(state: EndpointState, takeId: string): readonly AttemptGiven[] {
  return (state.takes.get(takeId)?.jobs ?? []).flatMap(({ attempt, jobId }) => {
    const data = state.jobs.get(jobId)?.data;
    const isHeld = data?.state === 'IN_PROGRESS' && data.attempt === attempt && data.current?.takeId === takeId;
    return isHeld && data.current !== null ? [{ jobId, attempt, token: data.current.token }] : [];
  });
}
