export { eventually } from './clock/eventually.js';
export { ManualClock, letRun } from './clock/manual-clock.js';
export { SeededRandom } from './clock/seeded-random.js';
