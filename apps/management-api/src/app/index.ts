export { ManagementModule } from './management.module.js';
