export { readCatalogFile, type CatalogReading } from './read-catalog-file.js';
