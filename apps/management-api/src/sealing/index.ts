export { composeSealing } from './compose-sealing.js';
