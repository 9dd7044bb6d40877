import { createHash, timingSafeEqual } from 'node:crypto';

/** Lower-case hex SHA-256. Enough for secrets that are long and random; a person's password would need more. */
export const hashHostSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Takes the same time whether or not they are alike. */
export const isSameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
