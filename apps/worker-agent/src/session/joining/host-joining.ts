import { isHostOfNode, type HostId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { HostReturn } from './host-return.js';
import { IdentityStore, type HostIdentity } from './identity.store.js';
import { identifyHost, joinHost, type JoinOptions } from './join-host.js';
import { hostOfToken, readOwnToken, type TokenPlace } from './own-token.js';

export interface HostJoiningOptions {
  readonly home: string;
  readonly tokenPlace: TokenPlace;
  readonly connect: JoinOptions['connect'];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

type Inventories = JoinOptions['inventory'];

/** The identity of this host, from the first start on, and how it comes to it. */
export class HostJoining {
  readonly #options: HostJoiningOptions;
  readonly #store: IdentityStore;

  constructor(options: HostJoiningOptions) {
    this.#options = options;
    this.#store = new IdentityStore(options.home);
  }

  /** @throws StartupError saying what the operator has to do */
  async identify(): Promise<HostIdentity> {
    const { logger, random, tokenPlace } = this.#options;
    return identifyHost({ store: this.#store, token: await readOwnToken(tokenPlace), random, logger });
  }

  /** @throws StartupError saying what the operator has to do */
  async join(claimed: HostIdentity, inventory: Inventories): Promise<HostIdentity> {
    const { clock, connect, logger, tokenPlace } = this.#options;
    const token = await readOwnToken(tokenPlace);
    return joinHost(claimed, { store: this.#store, token, inventory, connect, clock, logger });
  }

  /** To be told of each time that the broker lets this host in, or refuses it: then a node's joins again after a while. */
  returning(identity: HostIdentity, inventory: Inventories): (isAdmitted: boolean) => void {
    const { clock, logger, random } = this.#options;
    const rejoin = async (): Promise<void> => {
      if (await this.#isOwnNode(identity.hostId)) await this.join({ ...identity, isJoined: false }, inventory);
    };
    const hostReturn = new HostReturn({ rejoin, clock, random, logger });
    return (isAdmitted) => {
      if (isAdmitted) hostReturn.noteAdmitted();
      else hostReturn.noteRefused();
    };
  }

  /** The token of any other host was good once. */
  async #isOwnNode(hostId: HostId): Promise<boolean> {
    if (!isHostOfNode(hostId)) return false;
    const token = await readOwnToken(this.#options.tokenPlace);
    return token !== null && hostOfToken(token) === hostId;
  }
}
