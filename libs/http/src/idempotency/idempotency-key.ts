import { PlatformError } from '@berth/domain';

export const IDEMPOTENCY_KEY_MAX = 255;

/** Visible ASCII. A header that is sent twice arrives joined by a comma and a space, and so is refused. */
const KEY = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_MAX}}$`);

/** The key of a request; null without the header. @throws PlatformError `invalid-header` */
export function parseIdempotencyKey(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new PlatformError(
    'invalid-header',
    `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX} visible ASCII characters.`,
  );
}
