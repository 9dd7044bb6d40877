export { composeIdempotency } from './compose-idempotency.js';
