export { EnvBackfillStore } from './env-backfill.store.js';
export { makeEnvSealing } from './env-sealing.js';
