export { ContractChecker, type CheckedExchange } from './contract-checker.js';
export { DocumentSchemas } from './document-schemas.js';
export { withMembersAdded } from './members-added.js';
export { outsideClient } from './outside-client.js';
