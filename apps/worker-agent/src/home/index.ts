export { claimHome } from './claim-home.js';
