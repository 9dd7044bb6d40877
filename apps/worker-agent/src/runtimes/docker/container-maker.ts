import type { Logger } from '@berth/telemetry';
import type Dockerode from 'dockerode';
import type { Container } from 'dockerode';
import type { ContainerStart } from '../container-runtime.port.js';
import { groupsOf } from '../machine/amd-gpus.js';
import type { HeldGpus } from '../machine/held-gpus.js';
import type { ConfinedNetwork } from './confinement/confined-network.js';
import type { ConfinementPolicy } from './confinement/confinement-policy.js';
import { containerOptions, deviceFilesFor, type ContainerSurroundings } from './container-options.js';
import { isDiskLimitRefusal } from './engine-errors.js';
import type { ImageStore } from './images/image-store.js';

export interface ContainerMakerOptions {
  readonly engine: Dockerode;
  /** For people. */
  readonly engineName: string;
  readonly network: Pick<ConfinedNetwork, 'bridge' | 'name' | 'ensure'>;
  readonly confinement: ConfinementPolicy;
  readonly images: Pick<ImageStore, 'find'>;
  /** Of the engine's machine. */
  readonly cores: number;
  readonly logger: Logger;
}

/** Makes containers that are ready to be started. */
export class ContainerMaker {
  readonly #options: ContainerMakerOptions;
  #canLimitDisk = true;

  constructor(options: ContainerMakerOptions) {
    this.#options = options;
  }

  /**
   * The rules that confine it are looked at while the engine makes it: it does not run before both are done.
   *
   * @throws RuntimeError `runtime-unavailable` where it cannot be confined, and must be; what the engine throws
   */
  async make(start: ContainerStart, gpus: HeldGpus): Promise<Container> {
    const make = async (): Promise<Container> => this.#make(await this.#withImage(start), gpus);
    const [confined, made] = await Promise.allSettled([this.#options.network.ensure(), make()]);
    if (confined.status === 'rejected') throw confined.reason;
    // Some engines refuse what shall join a network that was missing until now.
    return made.status === 'fulfilled' ? made.value : make();
  }

  /** By digest, so that a name that stands for something else by now changes nothing between two starts. */
  async #withImage(start: ContainerStart): Promise<ContainerStart> {
    const { imageDigest, ...labels } = start.labels;
    const found = await this.#options.images.find({
      image: labels.image,
      ...(imageDigest === undefined ? {} : { digest: imageDigest }),
    });
    const digest = found?.digest ?? imageDigest;
    return { ...start, labels: { ...labels, ...(digest === undefined ? {} : { imageDigest: digest }) } };
  }

  async #make(start: ContainerStart, gpus: HeldGpus): Promise<Container> {
    const { engine, engineName, logger } = this.#options;
    try {
      return await engine.createContainer(containerOptions(start, await this.#surroundings(gpus)));
    } catch (error) {
      if (!this.#canLimitDisk || !isDiskLimitRefusal(error)) throw error;
      this.#canLimitDisk = false;
      logger.warn('the engine cannot limit what a container writes to the disk; workers carry a note', {
        engine: engineName,
        words: (error as Error).message,
      });
      return engine.createContainer(containerOptions(start, await this.#surroundings(gpus)));
    }
  }

  async #surroundings(gpus: HeldGpus): Promise<ContainerSurroundings> {
    const { confinement, cores, network } = this.#options;
    const nameServers = confinement.nameServers ?? [];
    const deviceGroups = await groupsOf(deviceFilesFor(gpus));
    return {
      ...{ network: network.name, bridge: network.bridge, nameServers, cores, gpus, deviceGroups },
      canLimitDisk: this.#canLimitDisk,
    };
  }
}
