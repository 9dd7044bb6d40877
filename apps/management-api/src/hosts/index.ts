export { HostsService } from './hosts-service.js';
export { HostsController } from './hosts.controller.js';
export { HostsStore } from './hosts.store.js';
