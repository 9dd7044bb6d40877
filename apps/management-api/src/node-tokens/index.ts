export { composeNodeAdmission } from './compose-node-admission.js';
export { NodeAdmission, type NodeFault } from './node-admission.js';
export { readNodeJoin, type NodeJoinConfig } from './read-node-join.js';
