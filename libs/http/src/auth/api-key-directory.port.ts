import type { ApiKeySnapshot } from '@berth/contracts';

/** Injection token of the application's `ApiKeyDirectory`. */
export const API_KEY_DIRECTORY = Symbol('ApiKeyDirectory');

/** Where keys are looked up: rows in the management API, a watched snapshot in the router. */
export interface ApiKeyDirectory {
  /**
   * The key with this public prefix, where this process has it in memory; undefined where only asking can tell. Absent:
   * nothing is in memory.
   */
  known?(prefix: string): ApiKeySnapshot | undefined;
  /**
   * The key with this public prefix, or null. Revoked keys are null within 2 s of their revocation.
   *
   * @throws PlatformError `service-unavailable` when nobody can tell
   */
  find(prefix: string): Promise<ApiKeySnapshot | null>;
}
