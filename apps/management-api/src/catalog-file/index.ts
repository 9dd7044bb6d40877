export { watchCatalog } from './compose-catalog-watch.js';
export { loadCatalog } from './load-catalog.js';
export { readCatalogPath } from './read-catalog-path.js';
