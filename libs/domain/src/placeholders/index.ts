export {
  planPlaceholders,
  type Placeholder,
  type PlaceholderBounds,
  type PlaceholderWish,
} from './plan-placeholders.js';
export { shortagesIn, type NodeWants, type Shortage } from './shortages.js';
