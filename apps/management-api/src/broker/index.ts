export { credentialsOf } from './credentials-of.js';
