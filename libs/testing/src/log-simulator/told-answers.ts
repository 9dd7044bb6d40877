import type { AttemptProof, CommandOutcome, EndpointCommand, JobCounts, LeaseRenewal } from '@berth/domain';
import { NOBODY, type LogWitness } from './log-witness.js';

/** What is asked of an endpoint's owner. */
export type Question =
  | { readonly kind: 'command'; readonly command: EndpointCommand }
  | { readonly kind: 'status'; readonly jobId: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'renew'; readonly proofs: readonly AttemptProof[] };

export type Answer =
  | CommandOutcome
  | { readonly kind: 'status'; readonly look: string }
  | { readonly kind: 'health'; readonly counts: JobCounts }
  | { readonly kind: 'renewals'; readonly outcomes: readonly LeaseRenewal['outcome'][] };

export interface ToldAnswer {
  readonly enteredAtMs: number;
  readonly question: Question;
  readonly answer: Answer;
  /** How far the log had come when the owner was asked. */
  readonly mark: number;
}

/** Ms after a take from which on a renewal says that its worker has started. */
const STARTED_AFTER_MS = 5_000;
/** How far the clocks of owners are from the world's, in ms. */
export const SKEW_MAX_MS = 400;

type Renewals = Extract<Answer, { readonly kind: 'renewals' }>;

/** Holds every answer, at the instant at which it is told, against the log of that instant. */
export class ToldAnswers {
  readonly #witness: LogWitness;
  readonly #report: (broken: string) => void;
  /** False where owners may believe in vain that they own: then only what rests on a batch is sure. */
  readonly #areReadsSure: boolean;
  readonly #purges = new Map<string, number>();
  told = 0;

  constructor(
    witness: LogWitness,
    more: { readonly report: (broken: string) => void; readonly areReadsSure: boolean },
  ) {
    this.#witness = witness;
    this.#report = more.report;
    this.#areReadsSure = more.areReadsSure;
  }

  check(told: ToldAnswer): void {
    this.told += 1;
    const why = this.#broken(told);
    if (why !== null) this.#report(`${JSON.stringify(told.question)} was told ${JSON.stringify(told.answer)}: ${why}`);
  }

  #broken({ answer, enteredAtMs, mark, question }: ToldAnswer): string | null {
    switch (question.kind) {
      case 'status': {
        if (!this.#areReadsSure || answer.kind !== 'status') return null;
        const looks = this.#witness.looksSince(question.jobId, mark);
        return looks.includes(answer.look) ? null : `it was ${looks.join(' ')}`;
      }
      case 'health':
        return this.#areReadsSure && answer.kind === 'health' ? this.#checkHealth(answer.counts, mark) : null;
      case 'renew':
        return answer.kind === 'renewals' ? this.#checkRenewals(question.proofs, { answer, mark, enteredAtMs }) : null;
      case 'command':
        return this.#checkCommand(question.command, { answer: answer as CommandOutcome, mark });
    }
  }

  #checkHealth({ completed, failed, inProgress, inQueue, retried }: JobCounts, mark: number): string | null {
    const told = [inQueue, inProgress, completed, failed, retried].join();
    const were = this.#witness.healths.slice(mark).map((counts) => counts.slice(0, 5).join());
    return were.includes(told) ? null : `it was ${were.join(' ')}`;
  }

  #checkRenewals(
    proofs: readonly AttemptProof[],
    { answer, enteredAtMs, mark }: Pick<ToldAnswer, 'enteredAtMs' | 'mark'> & { readonly answer: Renewals },
  ): string | null {
    if (!this.#areReadsSure) return null;
    for (const [at, { attempt, jobId, token }] of proofs.entries()) {
      const looks = this.#witness.looksSince(jobId, mark);
      const wasHeld = looks.some((look) => look.startsWith(`IN_PROGRESS/${attempt}/`));
      const wasLost = looks.some((look) => !look.startsWith(`IN_PROGRESS/${attempt}/`));
      // A life that is over is over before a fact says so.
      const isOver = this.#witness.endOfLife(jobId) <= enteredAtMs + SKEW_MAX_MS;
      if (answer.outcomes[at] === 'renewed' ? !wasHeld : !wasLost && !isOver) return `${jobId} was ${looks.join(' ')}`;
      const holder = this.#witness.jobs.get(jobId)?.holder;
      const isLate = holder?.token === token && enteredAtMs - holder.atMs > STARTED_AFTER_MS + 2 * SKEW_MAX_MS;
      const isStarted = this.#witness.jobs.get(jobId)?.isStarted;
      if (answer.outcomes[at] === 'renewed' && isLate && isStarted !== true) return `${jobId} has not started`;
    }
    return null;
  }

  #checkCommand(
    command: EndpointCommand,
    { answer, mark }: { readonly answer: CommandOutcome; readonly mark: number },
  ): string | null {
    switch (answer.kind) {
      case 'accepted': {
        const missing = answer.jobIds.filter((jobId) => !this.#witness.jobs.has(jobId));
        return missing.length === 0 ? null : `${missing.join()} is not in the log`;
      }
      case 'takes':
        return this.#checkTakes(command, { answer, mark });
      case 'job':
        return this.#checkJob(command, { answer, mark });
      case 'recorded':
        return this.#checkRecorded(command);
      case 'superseded':
        return this.#checkSuperseded(command, mark);
      case 'purged':
        return this.#checkPurged(command, answer.removed);
      case 'begun': {
        const isKnown = command.kind === 'begin-try' && this.#witness.tries.has(command.token);
        return isKnown ? null : 'the try is not in the log';
      }
      case 'refused':
        return this.#areReadsSure ? this.#checkRefusal(command, { reason: answer.reason, mark }) : null;
      case 'deleted':
        return this.#witness.isDeleted ? null : 'it is not in the log';
      case 'dropped':
      case 'later':
      case 'looked':
      case 'named-before':
      case 'opened':
        return null;
    }
  }

  #checkTakes(
    command: EndpointCommand,
    { answer, mark }: { readonly answer: Extract<CommandOutcome, { kind: 'takes' }>; readonly mark: number },
  ): string | null {
    if (command.kind !== 'take') return 'nobody asked for jobs';
    for (const [at, { jobs }] of answer.takes.entries()) {
      const wish = command.wishes[at];
      if (wish === undefined) return 'more answers than wishes';
      const inLog = this.#witness.takes.get(wish.secret) ?? new Set();
      if (inLog.size > wish.slots) return `${[...inLog].join()} for ${wish.slots} slots`;
      const given = jobs.map(({ attempt, jobId }) => `${jobId}/${attempt}`);
      const unknown = given.filter((name) => !inLog.has(name));
      if (unknown.length > 0) return `${unknown.join()} is not in the log`;
      if (given.length > 0) continue;
      if (this.#areReadsSure && inLog.size === 0 && command.wishes.length === 1) {
        const were = this.#witness.healths.slice(mark).map((counts) => counts[5] ?? 0);
        if (Math.min(...were) > 0) return `${were.join()} waited all the while`;
      }
    }
    return null;
  }

  #checkJob(
    command: EndpointCommand,
    { answer, mark }: { readonly answer: Extract<CommandOutcome, { kind: 'job' }>; readonly mark: number },
  ): string | null {
    const from = this.#areReadsSure ? mark : 0;
    const looks = this.#witness.looksSince(answer.jobId, from);
    if (!looks.some((look) => look.startsWith(`${answer.state}/`))) return `it was ${looks.join(' ')}`;
    if (command.kind === 'cancel' && !isEnd(answer.state)) return 'it is not cancelled';
    return null;
  }

  #checkRecorded(command: EndpointCommand): string | null {
    if (command.kind !== 'finish') return null;
    const isEnded = this.#witness.jobs.get(command.jobId)?.endedTokens.has(command.token) === true;
    return isEnded ? null : 'its end is not in the log';
  }

  #checkSuperseded(command: EndpointCommand, mark: number): string | null {
    if (!this.#areReadsSure || (command.kind !== 'finish' && command.kind !== 'give-up')) return null;
    const looks = this.#witness.looksSince(command.jobId, mark);
    const wasOther = looks.some((look) => !look.startsWith(`IN_PROGRESS/${command.attempt}/`));
    return wasOther ? null : `it was ${looks.join(' ')}`;
  }

  #checkPurged(command: EndpointCommand, removed: number): string | null {
    if (command.kind !== 'purge') return 'nobody asked for a purge';
    const inLog = this.#witness.purges.get(command.purgeId);
    if (inLog?.isDone !== true) return 'it is not in the log';
    if (inLog.removed !== removed) return `${inLog.removed} went`;
    const before = this.#purges.get(command.purgeId) ?? removed;
    this.#purges.set(command.purgeId, removed);
    return before === removed ? null : `it was told ${before} before`;
  }

  #checkRefusal(
    command: EndpointCommand,
    { mark, reason }: { readonly reason: string; readonly mark: number },
  ): string | null {
    if (reason === 'endpoint-deleted') return this.#witness.isDeleted ? null : 'it is not deleted';
    if (!('jobId' in command)) return null;
    const looks = this.#witness.looksSince(command.jobId, mark);
    if (reason === 'no-job') return looks.includes(NOBODY) ? null : `it was ${looks.join(' ')}`;
    if (reason !== 'not-retriable') return null;
    const wasOther = looks.some((look) => !look.startsWith('FAILED/') && !look.startsWith('TIMED_OUT/'));
    return wasOther ? null : `it was ${looks.join(' ')}`;
  }
}

const isEnd = (state: string): boolean => state !== 'IN_QUEUE' && state !== 'IN_PROGRESS';
