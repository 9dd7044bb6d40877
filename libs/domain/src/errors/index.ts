export { PlatformError, type ErrorCode, type PlatformErrorOptions } from './platform-error.js';
