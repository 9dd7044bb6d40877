export { Attackers, type AttackReport } from './attackers.js';
export { prepareBattlefield, type Battlefield } from './battlefield.js';
export type { VictimRecord } from './victim.js';
