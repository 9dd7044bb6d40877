import { laneOf, type EndpointState } from '../state.js';

/**
 * The effects that time has alone, and of which no fact tells: delays end, and remembered things are forgotten. Done
 * before every decision and every fact, it makes the state a function of its facts and of the instant.
 *
 * @param atMs never before the last fact
 */
export function advanceState(state: EndpointState, atMs: number): void {
  while (state.delays.nextAtMs <= atMs) {
    const job = state.delays.first;
    if (job === undefined) break;
    const lane = laneOf(state, job.data);
    state.delays.remove(job);
    lane.delayed.remove(job);
    job.isReady = true;
    lane.ready.add(job);
  }
  for (let key = state.keys.forget(atMs); key !== undefined; key = state.keys.forget(atMs)) state.whole.remove(key);
  for (let told = state.delivered.forget(atMs); told !== undefined; told = state.delivered.forget(atMs)) {
    state.whole.remove(told);
  }
  while (state.takes.forget(atMs) !== undefined);
  while (state.gone.forget(atMs) !== undefined);
}
