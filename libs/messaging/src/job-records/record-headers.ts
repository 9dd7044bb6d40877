import type { Job, JobState, Milestone } from '@berth/domain';

/** What a reader of headers alone learns of a record. Instants are Unix milliseconds; an absent header means null. */
export const RECORD_HEADERS = {
  state: 'Berth-State',
  attempt: 'Berth-Attempt',
  priority: 'Berth-Priority',
  createdAt: 'Berth-Created-At',
  queuedAt: 'Berth-Queued-At',
  notBefore: 'Berth-Not-Before',
  expiresAt: 'Berth-Expires-At',
  startedAt: 'Berth-Started-At',
  endedAt: 'Berth-Ended-At',
  deadlineAt: 'Berth-Deadline-At',
  host: 'Berth-Host',
  token: 'Berth-Token',
  charged: 'Berth-Charged',
  webhook: 'Berth-Webhook',
  milestones: 'Berth-Milestones',
} as const;

export function recordHeaders(job: Job): Record<string, string> {
  const values: Record<string, string> = {
    [RECORD_HEADERS.state]: job.state,
    [RECORD_HEADERS.attempt]: `${job.attempt}`,
    [RECORD_HEADERS.priority]: job.lowPriority ? 'l' : 'n',
    [RECORD_HEADERS.createdAt]: `${job.createdAtMs}`,
    [RECORD_HEADERS.queuedAt]: `${job.queuedAtMs}`,
    [RECORD_HEADERS.notBefore]: `${job.notBeforeMs}`,
    [RECORD_HEADERS.expiresAt]: `${job.expiresAtMs}`,
    [RECORD_HEADERS.charged]: `${job.charged}`,
  };
  if (job.milestones.length > 0) values[RECORD_HEADERS.milestones] = job.milestones.map(milestoneText).join(' ');
  if (job.webhook !== null) values[RECORD_HEADERS.webhook] = '1';
  if (job.endedAtMs !== null) values[RECORD_HEADERS.endedAt] = `${job.endedAtMs}`;
  if (job.current !== null) {
    values[RECORD_HEADERS.startedAt] = `${job.current.startedAtMs}`;
    values[RECORD_HEADERS.deadlineAt] = `${job.current.deadlineAtMs}`;
    values[RECORD_HEADERS.host] = job.current.hostId;
    values[RECORD_HEADERS.token] = job.current.token;
  }
  return values;
}

const milestoneText = ({ sequence, state, attempt }: Milestone): string => `${sequence}:${state}:${attempt}`;

/** Reads the header of milestones. */
export const milestonesFrom = (text: string): readonly Milestone[] =>
  text.split(' ').map((each) => {
    const [sequence, state, attempt] = each.split(':');
    return { sequence: Number(sequence), state: state as JobState, attempt: Number(attempt) };
  });
