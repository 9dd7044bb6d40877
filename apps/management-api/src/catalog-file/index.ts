export { loadCatalog } from './load-catalog.js';
export { readCatalogPath } from './read-catalog-path.js';
