export { useTempFolders } from './use-temp-folders.js';
