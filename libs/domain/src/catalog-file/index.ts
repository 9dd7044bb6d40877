export { readCatalogFile } from './read-catalog-file.js';
