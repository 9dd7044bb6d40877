export { UnreadableMessageError, isUnreadable, type UnreadableMessage } from './unreadable-message.js';
export { PlatformError, type ErrorCode, type PlatformErrorOptions } from './platform-error.js';
