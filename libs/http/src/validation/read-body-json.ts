import { PlatformError } from '@berth/domain';

/** Deeper than any body that means something, and flat enough for whatever walks over it by calling itself. */
const DEPTH_MAX = 64;

/** @throws PlatformError `body-not-json`, also for JSON that is nested too deep */
export function readBodyJson(text: string): unknown {
  const value = parse(text);
  if (!isFlat(value)) {
    throw new PlatformError('body-not-json', `The body is nested deeper than ${DEPTH_MAX} levels.`);
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new PlatformError('body-not-json', 'The body is not valid JSON.', { cause: error });
  }
}

const membersOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

/** Level by level: a body of brackets alone would be too deep to descend into. */
function isFlat(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= DEPTH_MAX; depth += 1) {
    if (level.length === 0) return true;
    level = level.flatMap(membersOf);
  }
  return false;
}
