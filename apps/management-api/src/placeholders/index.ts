export { startPlaceholders } from './compose-placeholders.js';
export { readPlaceholders, type PlaceholdersConfig } from './read-placeholders.js';
