export { cleanPrinted, cleanText } from './clean-text.js';
export { utf8Bytes } from './utf8-bytes.js';
