export { AuditController } from './audit.controller.js';
export { AuditStore } from './audit.store.js';
export { FieldChangeBody } from './field-change.body.js';
