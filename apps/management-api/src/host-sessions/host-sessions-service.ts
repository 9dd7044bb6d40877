import { PlatformError, type HardwareCatalog, type HostId } from '@berth/domain';
import type {
  DesiredWorker,
  DroppedEntries,
  HostReply,
  HostVolume,
  JoinFrame,
  JoinReply,
  JoinRequest,
  ReadReport,
  ReportFrame,
  WantedImage,
} from '@berth/contracts';
import type { Clock } from '@berth/lifecycle';
import { SecretError } from '@berth/secrets';
import type { DeletedVolumesStore } from '../network-volumes/index.js';
import type { EnvSeal } from '../persistence/index.js';
import type { StoredDesiredWorker, HostRow, HostSessionsStore, TokenState } from './host-sessions.store.js';
import type { ImagesAheadStore, StoredWantedImage } from './images-ahead.store.js';
import type { RegistryCredentialsService } from '../registries/index.js';
import { hashHostSecret, isSameHash } from './secret-hash.js';
import type { UnopenableWorker } from './unopenable-workers.js';

export interface HostSessionsOptions {
  readonly catalog: HardwareCatalog;
  readonly store: HostSessionsStore;
  readonly credentials: Pick<RegistryCredentialsService, 'open'>;
  readonly envs: Pick<EnvSeal, 'openContainer'>;
  readonly deletedVolumes: Pick<DeletedVolumesStore, 'on' | 'forget'>;
  /** Absent: no host is asked for images ahead of their workers. */
  readonly imagesAhead?: Pick<ImagesAheadStore, 'on'>;
  readonly clock: Clock;
  /** Told when something that the control loops decide on has changed. */
  readonly onChange: () => void;
  /** Told of every report that was taken: what of it could not be read; null for one that was taken whole. */
  readonly onDropped?: (hostId: HostId, dropped: DroppedEntries | null) => void;
  /** Told with every answer which of the host's workers could not be opened for it; none, as a rule. */
  readonly onUnopenable?: (hostId: HostId, workers: readonly UnopenableWorker[]) => void;
}

/** The conversation of agents with the control plane. */
export class HostSessionsService {
  readonly #options: HostSessionsOptions;

  constructor(options: HostSessionsOptions) {
    this.#options = options;
  }

  /**
   * Asked before what a host has is read: that costs time, and only who holds a good token, or has joined with it and
   * repeats, may spend it.
   *
   * @throws PlatformError `join-token-used`, `join-token-expired`, `invalid-join-token`, `host-not-found`
   */
  async admitJoin(hostId: HostId, { secretHash, token }: JoinFrame): Promise<void> {
    const { clock, store } = this.#options;
    const host = await this.#find(hostId);
    const state = await store.tokenState(hostId, hashHostSecret(token), clock.nowMs());
    const isRepeat = state !== 'unknown' && host.secretHash === secretHash;
    if (state !== 'good' && !isRepeat) throw tokenRefusal(state);
  }

  /**
   * Asked before what a host reports is read. `outdated`: a newer report of the same start was taken, so what this one
   * says counts for nothing.
   *
   * @throws PlatformError `host-not-found`, `host-not-joined`
   */
  async admitReport(
    hostId: HostId,
    { instanceId, secret, sequence }: Pick<ReportFrame, 'instanceId' | 'secret' | 'sequence'>,
  ): Promise<'current' | 'outdated'> {
    const host = await this.#find(hostId);
    assertSecret(hostId, host, secret);
    return host.instanceId === instanceId && sequence <= host.reportSequence ? 'outdated' : 'current';
  }

  /** The workers that a host shall have, without anything taken from it. @throws PlatformError `host-not-found` */
  async tellDesired(hostId: HostId): Promise<HostReply> {
    const { dataCenterId } = await this.#find(hostId);
    return { desired: this.#open(hostId, await this.#options.store.desired(hostId)), dataCenterId };
  }

  /** @throws PlatformError `join-token-used`, `join-token-expired`, `invalid-join-token`, `host-not-found` */
  async join(hostId: HostId, request: JoinRequest): Promise<JoinReply> {
    const { clock, onChange, store } = this.#options;
    const host = await this.#find(hostId);
    const { inventory, secretHash } = request;
    const tokenHash = hashHostSecret(request.token);
    const hasJoined = await store.join(hostId, tokenHash, { inventory, secretHash, nowMs: clock.nowMs() });
    if (!hasJoined) throw tokenRefusal(await store.tokenState(hostId, tokenHash, clock.nowMs()));
    onChange();
    return { hostId, dataCenterId: host.dataCenterId };
  }

  /** @throws PlatformError `host-not-found`, `host-not-joined` */
  async report(hostId: HostId, { dropped = null, ...request }: ReadReport): Promise<HostReply> {
    const { clock, onChange, store } = this.#options;
    const host = await this.#find(hostId);
    assertSecret(hostId, host, request.secret);
    const { instanceId, inventory, sentAtMs, sequence, workers } = request;
    const words = { instanceId, sequence, inventory, workers, ...(sentAtMs === undefined ? {} : { sentAtMs }) };
    // Most reports say nothing new, and a job may wait for the answer.
    const [outcome, known, deletions, imagesAhead] = await Promise.all([
      store.record({ hostId, receivedAtMs: clock.nowMs(), ...words }),
      store.desired(hostId),
      this.#deletions(request),
      inventory?.imagesAhead === undefined ? {} : this.#imagesAhead(hostId),
    ]);
    if (outcome === 'changed') onChange();
    const desired = outcome === 'changed' ? await store.desired(hostId) : known;
    this.#options.onDropped?.(hostId, dropped);
    return {
      desired: this.#open(hostId, desired),
      dataCenterId: host.dataCenterId,
      ...(dropped === null ? {} : { dropped }),
      ...deletions,
      ...imagesAhead,
    };
  }

  /** What was deleted of that of which the host still has something. */
  async #deletions({
    clearedVolumeIds = [],
    inventory,
    spooledEndpointIds = [],
  }: ReadReport): Promise<Pick<HostReply, 'deletedEndpointIds' | 'deletedVolumes'>> {
    const deletedEndpointIds = await this.#options.store.deletedOf(spooledEndpointIds);
    const deletedVolumes = await this.#deletedVolumes(inventory?.volumes?.storageId, clearedVolumeIds);
    return {
      ...(deletedEndpointIds.length === 0 ? {} : { deletedEndpointIds }),
      ...(deletedVolumes.length === 0 ? {} : { deletedVolumes }),
    };
  }

  /** Those that the storage still has, without those whose files its host says are gone. */
  async #deletedVolumes(storageId: string | undefined, cleared: readonly string[]): Promise<readonly HostVolume[]> {
    if (storageId === undefined) return [];
    const { deletedVolumes } = this.#options;
    if (cleared.length > 0) await deletedVolumes.forget(storageId, cleared);
    return deletedVolumes.on(storageId);
  }

  /** Only to hosts that prepare some: others, and older ones, do not know what it means. */
  async #imagesAhead(hostId: HostId): Promise<Pick<HostReply, 'imagesAhead'>> {
    const stored = (await this.#options.imagesAhead?.on(hostId)) ?? [];
    const imagesAhead = stored.flatMap((image) => this.#openedImage(image));
    return imagesAhead.length === 0 ? {} : { imagesAhead };
  }

  /** None where its credentials cannot be opened: nobody waits for it for ever, and its worker says what is wrong. */
  #openedImage({ sealedRegistry, ...wanted }: StoredWantedImage): readonly WantedImage[] {
    if (sealedRegistry === undefined) return [wanted];
    try {
      const registryCredentials = this.#options.credentials.open(sealedRegistry);
      return registryCredentials === null ? [] : [{ ...wanted, registryCredentials }];
    } catch (error) {
      if (error instanceof SecretError) return [];
      throw error;
    }
  }

  /** Each by itself: what of one tenant cannot be opened must not keep a host from hearing of the others. */
  #open(hostId: HostId, desired: readonly StoredDesiredWorker[]): readonly DesiredWorker[] {
    const unopenable: UnopenableWorker[] = [];
    const opened = desired.map((stored) => {
      const worker = this.#named(stored);
      try {
        return this.#opened(worker);
      } catch (error) {
        unopenable.push({ workerId: worker.workerId, error });
        return asUnopenable(worker, error);
      }
    });
    this.#options.onUnopenable?.(hostId, unopenable);
    return opened;
  }

  /** With what the catalog has of the worker's card: only the control plane knows it. */
  #named(worker: StoredDesiredWorker): StoredDesiredWorker {
    const { gpuTypeId } = worker.resources;
    if (gpuTypeId === null) return worker;
    const type = this.#options.catalog.gpuTypeOfCard(gpuTypeId);
    return { ...worker, gpuType: { id: type?.id ?? gpuTypeId, pool: type?.pool ?? null } };
  }

  /**
   * Only here, on the way to the host that runs the worker, are its variables and credentials readable.
   *
   * @throws SecretError for variables that cannot be opened: a worker without them would do the wrong thing
   */
  #opened({ sealedRegistry, ...assigned }: StoredDesiredWorker): DesiredWorker {
    const owner = { kind: 'endpoint', accountId: assigned.accountId, id: assigned.endpointId } as const;
    const worker = { ...assigned, container: this.#options.envs.openContainer(assigned.container, owner) };
    const registryCredentials = sealedRegistry === undefined ? null : this.#options.credentials.open(sealedRegistry);
    return registryCredentials === null ? worker : { ...worker, registryCredentials };
  }

  async #find(hostId: HostId): Promise<HostRow> {
    const host = await this.#options.store.find(hostId);
    if (host === null)
      throw new PlatformError('host-not-found', `There is no host ${hostId}; it may have been removed.`);
    return host;
  }
}

/** Named all the same, since what a host hears no word of must go; and to leave it needs no variables. */
function asUnopenable({ sealedRegistry: _, ...assigned }: StoredDesiredWorker, error: unknown): DesiredWorker {
  // Other errors quote what they stumbled over.
  const why = error instanceof SecretError ? error.reason : 'unreadable';
  return {
    ...assigned,
    container: { ...assigned.container, env: {} },
    unopenable: `its environment variables cannot be opened (${why})`,
  };
}

function assertSecret(hostId: HostId, { secretHash }: Pick<HostRow, 'secretHash'>, secret: string): void {
  if (secretHash !== null && isSameHash(secretHash, hashHostSecret(secret))) return;
  throw new PlatformError('host-not-joined', `Host ${hostId} has not joined with this secret.`);
}

const NEW_TOKEN = 'Make a new one with POST /v2/hosts/join-tokens.';

function tokenRefusal(state: TokenState): PlatformError {
  if (state === 'expired')
    return new PlatformError('join-token-expired', `The join token is out of date. ${NEW_TOKEN}`);
  if (state === 'unknown') return new PlatformError('invalid-join-token', `There is no such join token. ${NEW_TOKEN}`);
  // A token that was good a moment ago has just been used by another.
  return new PlatformError('join-token-used', `The join token has been used. ${NEW_TOKEN}`);
}
