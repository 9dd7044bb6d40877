import { readFileSync } from 'node:fs';
import type { ChargedJob, Execution } from '@berth/testing/checker';

/** What the service tells of one job and its attempts, and how the tenant used it. */
export interface Story {
  readonly kind: string | undefined;
  readonly history?: readonly {
    readonly workerId: string;
    readonly outcome: string;
    readonly reason: string;
    readonly startedAt: string;
    readonly endedAt: string;
  }[];
}

export const attemptsOf = ({ history = [] }: Pick<Story, 'history'>): ChargedJob['attempts'] =>
  history.map(({ endedAt, outcome, startedAt, workerId }) => ({
    ...{ workerId, outcome },
    startedAtMs: Date.parse(startedAt),
    endedAtMs: Date.parse(endedAt),
  }));

/** When attempts were given away, by job; Unix ms. */
export const lossesOf = (stories: ReadonlyMap<string, Story>): ReadonlyMap<string, readonly number[]> =>
  new Map(
    [...stories].map(([jobId, story]) => {
      const lost = attemptsOf(story).filter(({ outcome }) => outcome === 'lost');
      return [jobId, lost.map(({ endedAtMs }) => endedAtMs)];
    }),
  );

export interface StorySources {
  readonly jobId: string;
  /** Of all jobs. */
  readonly executions: readonly Execution[];
  /** What `injectFaults` wrote. */
  readonly logFile: string;
}

/** All that is known of one job, among the faults, in the order of time: for a person who looks into a broken promise. */
export function tellStory(story: Story | undefined, { executions, jobId, logFile }: StorySources): string {
  const lines = executions
    .filter((execution) => execution.jobId === jobId)
    .flatMap(({ execution, givenAtMs, startedAtMs }) => [
      line(startedAtMs, `execution ${execution} starts`),
      ...(givenAtMs === null ? [] : [line(givenAtMs, `execution ${execution} hears that its result is safe`)]),
    ]);
  const faults = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  return `${[`job ${jobId}: ${JSON.stringify(story)}`, ...[...lines, ...faults].sort()].join('\n  ')}\n`;
}

const line = (atMs: number, what: string): string => `${new Date(atMs).toISOString()} ${what}`;
