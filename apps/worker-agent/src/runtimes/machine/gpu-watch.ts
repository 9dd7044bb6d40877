import type { Logger } from '@berth/telemetry';
import { NO_GPUS, gpuName, type GpuDevice, type GpuReading, type MachineGpus } from './gpu-device.js';

export interface GpuWatchOptions {
  /** For people. */
  readonly tool: string;
  /** Must not reject. */
  readonly read: () => Promise<GpuReading>;
  readonly logger: Logger;
}

/** After so many calls in a row that failed, cards that the tool does not name are lost. */
const FAILURES_MAX = 3;

/** The GPUs of one maker. A tool that fails now and then costs no host its cards: the last good reading stands for a while. */
export class GpuWatch {
  readonly #options: GpuWatchOptions;
  #present = NO_GPUS;
  #failures = 0;
  #hasRead = false;

  constructor(options: GpuWatchOptions) {
    this.#options = options;
  }

  get present(): MachineGpus {
    return this.#present;
  }

  /** False while a card that is not present may be there all the same. */
  get isKnown(): boolean {
    return this.#hasRead || this.#failures >= FAILURES_MAX;
  }

  async look(): Promise<void> {
    const reading = await this.#options.read();
    if (reading.kind === 'read') {
      this.#failures = 0;
      this.#hasRead = true;
      this.#becomes({ gpus: reading.gpus, cudaVersion: reading.cudaVersion });
    } else {
      this.#failures += 1;
      const { detail } = reading;
      const stands = this.#present.gpus.length;
      this.#options.logger.warn(`${this.#options.tool} failed`, { detail, times: this.#failures, gpus: stands });
      if (this.#failures >= FAILURES_MAX) this.#becomes(this.#stillNamed(reading.gpus));
    }
  }

  #stillNamed(named: readonly GpuDevice[]): MachineGpus {
    const names = new Set(named.map(gpuName));
    const gpus = this.#present.gpus.filter((gpu) => names.has(gpuName(gpu)));
    return { gpus, cudaVersion: gpus.length > 0 ? this.#present.cudaVersion : null };
  }

  #becomes(present: MachineGpus): void {
    const names = new Set(present.gpus.map(gpuName));
    const lost = this.#present.gpus.filter((gpu) => !names.has(gpuName(gpu)));
    if (lost.length > 0) this.#options.logger.error('GPUs are lost', { gpus: lost.map(gpuName) });
    this.#present = present;
  }
}
