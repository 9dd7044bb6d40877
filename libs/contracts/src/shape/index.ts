export { readAs, readJson, unreadable, type Reading } from './reading.js';
export {
  count,
  flag,
  id,
  instant,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  readShape,
  text,
  variantOf,
  type Shape,
} from './shape.js';
