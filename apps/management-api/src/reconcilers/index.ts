export { startReconcilers } from './compose-reconcilers.js';
