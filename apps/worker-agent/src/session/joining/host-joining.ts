import { isHostOfNode, type HostId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import { StartupError, type Logger } from '@berth/telemetry';
import { HostReturn } from './host-return.js';
import { IdentityStore, type HostIdentity } from './identity.store.js';
import { identifyHost, joinHost, type JoinOptions } from './join-host.js';
import { JoinWait } from './join-wait.js';
import { hostOfToken, readOwnToken, type TokenPlace } from './own-token.js';

export interface HostJoiningOptions {
  readonly home: string;
  readonly tokenPlace: TokenPlace;
  readonly connect: JoinOptions['connect'];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const REMOVED_HOST =
  'This host was removed, or its control plane was set up anew. To have it back, make a token with `berth host join NAME` and ' +
  'start this agent anew with it as BERTH_JOIN_TOKEN; otherwise stop this agent.';

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
    return this.#join(claimed, inventory, { isReturn: false });
  }

  /**
   * To be told of each time that the broker lets this host in, or refuses it: then a node's joins again after a while, and
   * any other one says what has to be done.
   */
  returning(identity: HostIdentity, inventory: Inventories): (isAdmitted: boolean) => void {
    const { clock, logger, random } = this.#options;
    const rejoin = async (): Promise<void> => {
      if (!(await this.#isOwnNode(identity.hostId))) throw new StartupError(REMOVED_HOST);
      await this.#join({ ...identity, isJoined: false }, inventory, { isReturn: true });
    };
    const hostReturn = new HostReturn({ rejoin, clock, random, logger });
    return (isAdmitted) => {
      if (isAdmitted) hostReturn.noteAdmitted();
      else hostReturn.noteRefused();
    };
  }

  /** @param isReturn what it waits for is no news then: the log says that this host is refused */
  async #join(
    claimed: HostIdentity,
    inventory: Inventories,
    { isReturn }: { isReturn: boolean },
  ): Promise<HostIdentity> {
    const { clock, connect, logger, tokenPlace } = this.#options;
    const token = await readOwnToken(tokenPlace);
    const wait = new JoinWait(clock, logger, isReturn ? 'debug' : 'warn');
    return joinHost(claimed, { store: this.#store, token, inventory, connect, clock, logger, wait });
  }

  /** The token of any other host was good once. */
  async #isOwnNode(hostId: HostId): Promise<boolean> {
    if (!isHostOfNode(hostId)) return false;
    const token = await readOwnToken(this.#options.tokenPlace);
    return token !== null && hostOfToken(token) === hostId;
  }
}
