import { ApiError, type StackClient } from './management-client.js';
import { renewApiKey, type StackSecrets } from './stack-secrets.js';

interface KeyPlace {
  readonly home: string;
  /** Of the management API. */
  readonly baseUrl: string;
  readonly secrets: StackSecrets;
}

/**
 * A key that somebody deleted is not let in again by the migration, so that the next start needs another one.
 *
 * @throws Error where nobody knows the key of this home; another one is made then
 */
export async function requireKnownKey(client: StackClient, { baseUrl, home, secrets }: KeyPlace): Promise<void> {
  try {
    await client.get(`${baseUrl}/v2/serverless`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    await renewApiKey(home, secrets);
    throw new Error('The API key of this home was deleted, and stays so. Another one was made: start again.', {
      cause: error,
    });
  }
}
