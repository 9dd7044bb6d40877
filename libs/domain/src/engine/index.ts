export { formatEngineAddress, type EngineAddress } from './engine-address.js';
export { engineCandidates, type EngineCandidate } from './engine-candidates.js';
