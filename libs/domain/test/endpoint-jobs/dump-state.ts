import { advanceState } from '../../src/endpoint-jobs/apply/advance-state.js';
import type { EndpointState, Lane } from '../../src/endpoint-jobs/state.js';
import type { LogPlace } from '../../src/endpoint-jobs/structures/carry-list.js';
import type { Remembered } from '../../src/endpoint-jobs/structures/timed-memory.js';

const at = (place: LogPlace | null): number | null => place?.sequence ?? null;

const byName = <T extends { readonly name: string }>(items: Iterable<T>): readonly T[] =>
  [...items].toSorted((a, b) => (a.name < b.name ? -1 : 1));

const laneIds = ({ delayed, ready }: Lane): object => ({
  ready: [...ready.forwards()].map(({ data }) => data.jobId),
  delayed: [...delayed.forwards()].map(({ data }) => data.jobId),
});

const remembered = ({ name, untilMs }: Remembered): object => ({ name, untilMs });

/** Everything that a state says at an instant, as plain data; but for leases, which no fact tells of. */
export function dumpState(state: EndpointState, atMs: number): object {
  advanceState(state, atMs);
  const { isDeleted, counters, lastAtMs, lastPurge, livingBytes, nextOrdinal, runningLow, runningNormal, term } = state;
  return {
    ...{ isDeleted, counters, lastAtMs, lastPurge, livingBytes, nextOrdinal, runningLow, runningNormal, term },
    pace: state.pace.read(atMs),
    jobs: [...state.bySubmission.forwards()].map(({ data, body, output, place, outputPlace }) => ({
      ...{ data, body, output, place: at(place), outputPlace: at(outputPlace) },
    })),
    normal: laneIds(state.normal),
    low: laneIds(state.low),
    deliveries: byName([...state.deliveries.values(), ...state.delivered.values()]).map(
      ({ data, body, output, place, outputPlace }) => ({ data, body, output, place: at(place), to: at(outputPlace) }),
    ),
    keys: byName(state.keys.values()).map(({ data, place }) => ({ data, place: at(place) })),
    takes: byName(state.takes.values()).map((take) => ({ ...remembered(take), jobs: take.jobs })),
    gone: byName(state.gone.values()).map(remembered),
    whole: [...state.whole.values()].map((item) => [item.what, 'name' in item ? item.name : item.data.jobId]),
  };
}
