export { composeStores, watchStores } from './compose-stores.js';
export { storeFull } from './store-full.js';
