export { UnreadableMessageError, isUnreadable, type UnreadableMessage } from './unreadable-message.js';
export { PlatformError, type ErrorCode } from './platform-error.js';
