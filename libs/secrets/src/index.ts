export { readSecretBox } from './read-secret-box.js';
export { SecretBox } from './secret-box.js';
export { SecretError, type SecretErrorReason } from './secret-error.js';
