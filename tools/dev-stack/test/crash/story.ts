import { readFileSync } from 'node:fs';
import type { Diary } from '../stack/diary.js';
import type { Tenant } from './tenant.js';

export interface StorySources {
  readonly tenant: Tenant;
  readonly diary: Diary;
  /** What `injectFaults` wrote. */
  readonly logFile: string;
}

/** All that is known of one job, beside the faults, in the order of time: for whoever looks into a broken promise. */
export async function tellStory(jobId: string, { diary, logFile, tenant }: StorySources): Promise<string> {
  const executions = diary
    .executions()
    .filter((execution) => execution.jobId === jobId)
    .flatMap(({ execution, givenAtMs, startedAtMs }) => [
      line(startedAtMs, `execution ${execution} starts`),
      ...(givenAtMs === null ? [] : [line(givenAtMs, `execution ${execution} hears that its result is safe`)]),
    ]);
  const faults = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  const known = JSON.stringify(await tenant.lookInto(jobId));
  return `${[`job ${jobId}: ${known}`, ...[...executions, ...faults].sort()].join('\n  ')}\n`;
}

const line = (atMs: number, what: string): string => `${new Date(atMs).toISOString()} ${what}`;
