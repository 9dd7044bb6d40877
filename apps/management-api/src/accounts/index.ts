export { AccountUseStore } from './account-use.store.js';
export { AccountsService } from './accounts-service.js';
export { AccountsController } from './accounts.controller.js';
export { AccountsStore } from './accounts.store.js';
export { readSeedKey } from './read-seed-key.js';
export { seedAccount, type SeedKey } from './seed-account.js';
