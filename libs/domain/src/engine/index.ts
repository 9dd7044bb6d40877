export { formatEngineAddress, parseEngineAddress, type EngineAddress, type EngineReading } from './engine-address.js';
export { engineCandidates, type EngineCandidate, type EngineChoices } from './engine-candidates.js';
