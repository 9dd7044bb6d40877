export { mergeSlices, type Slice } from './merge-slices.js';
export { formatPageCursor, isOlder, newestFirst, parsePageCursor, type PageKey } from './page-key.js';
