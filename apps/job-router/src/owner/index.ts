export { composeOwner } from './compose-owner.js';
export { LogDeliveries } from './log-deliveries.js';
export { OwnerDemand } from './owner-demand.js';
export { watchOwner } from './watch-owner.js';
