import type { ScalingBody, ScalingHistoryEntryBody } from '@berth/contracts/http';
import type { ScalingDecision } from '../workers/index.js';
import type { KeptDecision } from './scaling-history.store.js';

export const toScalingBody = (
  current: ScalingDecision | null,
  page: readonly KeptDecision[],
  limit: number,
): ScalingBody => ({
  current: current === null ? null : toCurrent(current),
  decisions: page.map(toEntry),
  cursor: page.length < limit ? null : (page.at(-1)?.ordinal ?? null),
});

const toCurrent = ({ decidedAtMs, desired, detail, reason, waiting }: ScalingDecision) => ({
  ...{ desired, reason, detail, waiting },
  decidedAt: new Date(decidedAtMs).toISOString(),
});

const toEntry = ({
  atMs,
  desired,
  desiredBefore,
  detail,
  inputs,
  outcome,
  reason,
}: KeptDecision): ScalingHistoryEntryBody => ({
  at: new Date(atMs).toISOString(),
  ...{ desiredBefore, desired, reason, detail, inputs },
  // Entries of older versions count neither.
  outcome: { evicted: 0, paused: 0, ...outcome },
});
