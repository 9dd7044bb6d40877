import type { AccountId, ContainerSpec, EndpointSpec } from '@berth/domain';
import type { SecretBox } from '@berth/secrets';

export type Env = Readonly<Record<string, string>>;

/** Environment variables in a row: sealed text, or the plain map where nothing has sealed it yet. */
export type StoredEnv = string | Env;

export type StoredContainer = Omit<ContainerSpec, 'env'> & { readonly env: StoredEnv };
export type StoredEndpointSpec = Omit<EndpointSpec, 'container'> & {
  readonly container: StoredContainer;
  /** Of a load-balanced endpoint, out of its sealed variables: routers know it, as callers do. */
  readonly healthCheckPath?: string;
};

/** Whose variables they are. A release's are its endpoint's. */
export interface EnvOwner {
  readonly kind: 'endpoint' | 'template';
  readonly accountId: AccountId;
  readonly id: string;
}

/** Seals the environment variables of a row: any of them may be a secret, whatever its name. */
export class EnvSeal {
  readonly #secrets: SecretBox;

  constructor(secrets: SecretBox) {
    this.#secrets = secrets;
  }

  seal(env: Env, owner: EnvOwner): string {
    return this.#secrets.seal(JSON.stringify(env), contextOf(owner));
  }

  /** @throws SecretError when the key that sealed them is not there any more */
  open(stored: StoredEnv, owner: EnvOwner): Env {
    return typeof stored === 'string' ? (JSON.parse(this.#secrets.open(stored, contextOf(owner))) as Env) : stored;
  }

  /** As `SecretBox.reseal`. @throws SecretError when they cannot be opened */
  reseal(sealed: string, owner: EnvOwner): string {
    return this.#secrets.reseal(sealed, contextOf(owner));
  }

  sealContainer(container: ContainerSpec, owner: EnvOwner): StoredContainer {
    return { ...container, env: this.seal(container.env, owner) };
  }

  openContainer(stored: StoredContainer, owner: EnvOwner): ContainerSpec {
    return { ...stored, env: this.open(stored.env, owner) };
  }
}

const contextOf = ({ accountId, id, kind }: EnvOwner): string => `env:${kind}:${accountId}:${id}`;
