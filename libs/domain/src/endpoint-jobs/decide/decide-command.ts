import { COMMAND_MAX_AGE_MS, SLICE_MAX } from '../bounds.js';
import type { EndpointCommand, CommandDecision } from '../commands.js';
import type { ExpiredFact } from '../facts.js';
import { disappearsAtMs } from '../../job/index.js';
import type { EndpointState } from '../state.js';
import { decideCancel, decideReplaceLife, decideRetry } from './decide-caller.js';
import { decideBeginTry, decideEndTry } from './decide-delivery.js';
import { decideFinish, decideGiveUp, decideLetGo, decideProgress } from './decide-holder.js';
import { decideLook } from './decide-look.js';
import { decidePurge } from './decide-purge.js';
import { decideSubmit } from './decide-submit.js';
import { decideTake } from './decide-take.js';
import { again, decided, refused } from './outcome.js';

/**
 * Decides about a command. Nothing is changed: the facts are to be applied, and the answer told once they are
 * committed. Before it the state is to be `advance`d to the same instant.
 *
 * Jobs whose life is over go first, so nothing else here asks whether a job is gone.
 *
 * @param atMs Unix ms, never before the last fact
 */
export function decideCommand(state: EndpointState, command: EndpointCommand, atMs: number): CommandDecision {
  if ('sentAtMs' in command && atMs - command.sentAtMs > COMMAND_MAX_AGE_MS) return decided({ kind: 'dropped' });
  if (state.isDeleted && command.kind !== 'open') return OF_DELETED[command.kind]();
  const expired = command.kind === 'open' ? null : findExpired(state, atMs);
  return expired === null
    ? (DECIDE[command.kind] as Decide<EndpointCommand['kind']>)(state, command, atMs)
    : again(expired);
}

/** The holder of a job of it learns that it is over; repeated deletion is success. */
const OF_DELETED: { readonly [Kind in Exclude<EndpointCommand['kind'], 'open'>]: () => CommandDecision } = {
  submit: noEndpoint,
  take: noEndpoint,
  cancel: noEndpoint,
  retry: noEndpoint,
  'replace-life': noEndpoint,
  purge: noEndpoint,
  progress: superseded,
  finish: superseded,
  'give-up': superseded,
  'let-go': superseded,
  'begin-try': superseded,
  'end-try': superseded,
  look: () => decided({ kind: 'looked' }),
  delete: () => decided({ kind: 'deleted' }),
};

function noEndpoint(): CommandDecision {
  return refused({ reason: 'endpoint-deleted', code: 'endpoint-not-found', detail: 'The endpoint was deleted.' });
}

function superseded(): CommandDecision {
  return decided({ kind: 'superseded' });
}

type Decide<Kind extends EndpointCommand['kind']> = (
  state: EndpointState,
  command: Extract<EndpointCommand, { readonly kind: Kind }>,
  atMs: number,
) => CommandDecision;

const DECIDE: { readonly [Kind in EndpointCommand['kind']]: Decide<Kind> } = {
  submit: decideSubmit,
  take: decideTake,
  progress: decideProgress,
  finish: decideFinish,
  'give-up': decideGiveUp,
  'let-go': decideLetGo,
  cancel: decideCancel,
  retry: decideRetry,
  'replace-life': decideReplaceLife,
  purge: decidePurge,
  look: decideLook,
  'begin-try': decideBeginTry,
  'end-try': decideEndTry,
  open: ({ isDeleted, term: before }, { routerId }, atMs) => {
    const term = before + 1;
    const opened = { kind: 'opened', atMs, term, routerId } as const;
    return decided({ kind: 'opened' }, isDeleted ? [opened, { kind: 'endpoint-deleted', atMs, term }] : [opened]);
  },
  delete: ({ term }, _, atMs) => decided({ kind: 'deleted' }, [{ kind: 'endpoint-deleted', atMs, term }]),
};

/** The earliest of what is gone by now, as one rule; null where nothing is. */
export function findExpired(state: EndpointState, atMs: number): ExpiredFact | null {
  const jobs = state.lives.due(atMs, SLICE_MAX);
  const last = jobs.at(-1);
  if (last === undefined) return null;
  const before = { atMs: disappearsAtMs(last.data), ordinal: last.data.ordinal };
  return { kind: 'expired', atMs, before, count: jobs.length };
}
