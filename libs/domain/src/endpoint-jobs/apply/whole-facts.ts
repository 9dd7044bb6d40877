import { KEY_KEPT_MS, ATTEMPT_LEASE_MS } from '../bounds.js';
import type { CarriedFact, TotalsFact } from '../facts.js';
import { deliveryName, type DeliveryRecord, type EndpointState, type KeyRecord } from '../state.js';
import type { LogPlace } from '../structures/carry-list.js';
import { listDelivery, unlistDelivery } from './delivery-facts.js';
import { list } from './queue.js';
import { countOrdinal, keptBody, keptPayload, newLivingJob } from './take-facts.js';
import type { TouchedJob } from './touched-job.js';

/** Carrying moves nobody: the same job, key or delivery lies somewhere else from now on. */
export function applyCarried(
  state: EndpointState,
  { fact, place }: { readonly fact: CarriedFact; readonly place: LogPlace },
): readonly TouchedJob[] {
  switch (fact.what) {
    case 'job':
      carryJob(state, fact, place);
      break;
    case 'key':
      carryKey(state, fact, place);
      break;
    case 'delivery':
      carryDelivery(state, fact, place);
      break;
    default:
      fact satisfies never;
  }
  return [];
}

type Carried<What extends CarriedFact['what']> = Extract<CarriedFact, { readonly what: What }>;

function carryJob(state: EndpointState, { atMs, body, job: data, output }: Carried<'job'>, place: LogPlace): void {
  const known = state.jobs.get(data.jobId);
  const outputPlace = output === null ? null : place;
  if (known !== undefined) {
    state.whole.remove(known);
    known.place = place;
    known.outputPlace = outputPlace;
    state.whole.append(known);
    return;
  }
  const job = newLivingJob({ ...data }, body, place);
  job.output = keptPayload(output);
  job.outputPlace = outputPlace;
  if (data.state === 'IN_PROGRESS') job.leaseUntilMs = atMs + ATTEMPT_LEASE_MS;
  countOrdinal(state, Math.max(data.ordinal, data.queuePlace));
  state.whole.append(job);
  list(state, job, atMs);
}

function carryKey(state: EndpointState, { key }: Carried<'key'>, place: LogPlace): void {
  const known = state.keys.get(key.name);
  if (known !== undefined) state.whole.remove(known);
  const untilMs = key.createdAtMs + KEY_KEPT_MS;
  const links = { place, older: null, newer: null };
  const carried: KeyRecord = { what: 'key', name: key.name, untilMs, memoryIndex: -1, data: key, ...links };
  state.keys.put(carried);
  state.whole.append(carried);
}

function carryDelivery(state: EndpointState, fact: Carried<'delivery'>, place: LogPlace): void {
  const { body, delivery: data, output } = fact;
  const name = deliveryName(data.jobId, data.attempt);
  const known = state.deliveries.get(name) ?? state.delivered.get(name);
  if (known !== undefined) {
    unlistDelivery(state, known);
    state.delivered.remove(name);
    state.whole.remove(known);
  }
  const carried: DeliveryRecord = {
    what: 'delivery',
    name,
    untilMs: Number.POSITIVE_INFINITY,
    memoryIndex: -1,
    data,
    body: body === null ? null : keptBody(body),
    output: keptPayload(output),
    outputPlace: output === null ? null : place,
    place,
    older: null,
    newer: null,
    stepIndex: -1,
  };
  state.whole.append(carried);
  listDelivery(state, carried);
}

/** Absolute, so that whatever was counted from half a log is put right. */
export function applyTotals(state: EndpointState, { counters, covers, life }: TotalsFact): readonly TouchedJob[] {
  state.covers = covers;
  state.counters = { ...counters };
  state.term = life.term;
  state.nextOrdinal = life.nextOrdinal;
  state.lastPurge = life.lastPurge;
  state.pace.restore(life.pace);
  if (covers >= state.readAfter) state.isWhole = true;
  return [];
}
