import type { RegistryCredentials } from '@berth/contracts';
import type { AccountId } from '@berth/domain';
import type { SecretBox } from '@berth/secrets';
import type { Logger } from '@berth/telemetry';

interface RegistryKey {
  readonly accountId: AccountId;
  readonly id: string;
}

/** Credentials as they lie in the database, and whose they are. */
export interface SealedRegistry extends RegistryKey {
  readonly sealedCredentials: string;
}

/** Seals what a tenant gives us, and opens it for the host that pulls the tenant's image. */
export class RegistryCredentialsService {
  readonly #secrets: SecretBox;
  readonly #logger: Logger;

  constructor(secrets: SecretBox, logger: Logger) {
    this.#secrets = secrets;
    this.#logger = logger;
  }

  seal(key: RegistryKey, { password, username }: RegistryCredentials): string {
    return this.#secrets.seal(JSON.stringify({ username, password }), contextOf(key));
  }

  /** As `SecretBox.reseal`. @throws SecretError when they cannot be opened */
  reseal({ sealedCredentials, ...key }: SealedRegistry): string {
    return this.#secrets.reseal(sealedCredentials, contextOf(key));
  }

  /**
   * Null where they cannot be opened, because the key is gone: the pull then fails and says why, and the host's other
   * workers go on.
   */
  open({ sealedCredentials, ...key }: SealedRegistry): RegistryCredentials | null {
    try {
      return JSON.parse(this.#secrets.open(sealedCredentials, contextOf(key))) as RegistryCredentials;
    } catch (error) {
      this.#logger.error('credentials of a registry cannot be opened', { registryId: key.id, error });
      return null;
    }
  }
}

const contextOf = ({ accountId, id }: RegistryKey): string => `registry:${accountId}:${id}`;
