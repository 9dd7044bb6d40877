export { AuditController } from './audit.controller.js';
export { AuditStore } from './audit.store.js';
