export { readSecretBox } from './read-secret-box.js';
export { SecretBox } from './secret-box.js';
export { parseSecretKeys } from './secret-key.js';
export { SecretError } from './secret-error.js';
