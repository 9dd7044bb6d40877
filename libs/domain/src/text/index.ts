export { cleanPrinted, cleanText } from './clean-text.js';
