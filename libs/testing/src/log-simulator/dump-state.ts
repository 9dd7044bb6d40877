import { performRenewals, type EndpointState } from '@berth/domain';

type Job = EndpointState['jobs'] extends Map<unknown, infer Each> ? Each : never;
type Place = Job['outputPlace'];

const at = (place: Place): number | null => place?.sequence ?? null;

const byName = <T extends { readonly name: string }>(items: Iterable<T>): readonly T[] =>
  [...items].toSorted((a, b) => (a.name < b.name ? -1 : 1));

const laneIds = ({ delayed, ready }: EndpointState['normal']): object => ({
  ready: [...ready.forwards()].map(({ data }) => data.jobId),
  delayed: [...delayed.forwards()].map(({ data }) => data.jobId),
});

const neverWritten = (): never => {
  throw new Error('nothing was renewed');
};

/** Everything that a state says at an instant, as plain data; but for leases, which no fact tells of. */
export function dumpState(state: EndpointState, nowMs: number): object {
  const atMs = Math.max(nowMs, state.lastAtMs);
  // Brings the state to that instant, and does nothing else.
  performRenewals(state, [], { nowMs: atMs, write: neverWritten });
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
    takes: byName(state.takes.values()).map(({ jobs, name, untilMs }) => ({ name, untilMs, jobs })),
    gone: byName(state.gone.values()).map(({ name, untilMs }) => ({ name, untilMs })),
    whole: [...state.whole.values()].map((item) => [item.what, 'name' in item ? item.name : item.data.jobId]),
  };
}
