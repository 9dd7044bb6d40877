import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { readAmdGpus, renderNodeOf, type FindRenderNode } from './amd-gpus.js';
import { hasGpuName, type GpuMaker, type MachineGpus } from './gpu-device.js';
import { GpuTool, type AskTool } from './gpu-tool.js';
import { GpuWatch } from './gpu-watch.js';
import { readNvidiaGpus } from './nvidia-gpus.js';

export interface MachineCardsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Null: what the machine has. */
  readonly simulatedGpus: MachineGpus | null;
  readonly nvidiaSmi?: AskTool;
  readonly rocmSmi?: AskTool;
  readonly findRenderNode?: FindRenderNode;
}

const REFRESH_MS = 60_000;
const TOOL_TIMEOUT_MS = 20_000;
/** How long a report waits for the tools: the first is worth waiting for, the others tell what was known before. */
const FIRST_PATIENCE_MS = 5_000;
const PATIENCE_MS = 1_000;

/** The GPUs of the machine, of both makers, as they were when the tools last told. */
export class MachineCards {
  readonly #options: MachineCardsOptions;
  readonly #nvidia: GpuWatch;
  readonly #amd: GpuWatch;
  /** Stays when a driver is silent later: a worker without GPU must not see those that come back. */
  readonly #makers = new Set<GpuMaker>();
  #lookedAtMs: number | null = null;
  #looking: Promise<void> | null = null;

  constructor(options: MachineCardsOptions) {
    const { clock, logger } = options;
    const toolOf = (file: string): AskTool => new GpuTool({ file, timeoutMs: TOOL_TIMEOUT_MS, clock }).ask;
    const { findRenderNode = renderNodeOf, nvidiaSmi = toolOf('nvidia-smi'), rocmSmi = toolOf('rocm-smi') } = options;
    this.#options = options;
    this.#nvidia = new GpuWatch({ tool: 'nvidia-smi', read: () => readNvidiaGpus(nvidiaSmi), logger });
    this.#amd = new GpuWatch({ tool: 'rocm-smi', read: () => readAmdGpus(rocmSmi, findRenderNode), logger });
  }

  /** Makers of which the machine has, or has had, a device. */
  get makers(): ReadonlySet<GpuMaker> {
    return this.#makers;
  }

  /** Cards come and go rarely, so the tools are asked once a minute; one that takes its time keeps nobody waiting for long. */
  async look(): Promise<MachineGpus> {
    const { clock, simulatedGpus } = this.#options;
    if (simulatedGpus !== null) return simulatedGpus;
    const isFirst = this.#lookedAtMs === null;
    if (isFirst || clock.monotonicMs() - Number(this.#lookedAtMs) > REFRESH_MS) this.#looking ??= this.#ask();
    if (this.#looking !== null) await this.#waitFor(this.#looking, isFirst ? FIRST_PATIENCE_MS : PATIENCE_MS);
    return this.#present();
  }

  /** By the last look, for a driver may be slow; only where there has been none it is waited for. */
  async known(): Promise<MachineGpus> {
    return this.#lookedAtMs === null ? this.look() : (this.#options.simulatedGpus ?? this.#present());
  }

  /** Whether the machine had a card of that name and has it no longer; false while its tools may only be in trouble. */
  isLost(name: string): boolean {
    const isKnown = this.#options.simulatedGpus !== null || (this.#nvidia.isKnown && this.#amd.isKnown);
    const { gpus } = this.#options.simulatedGpus ?? this.#present();
    return isKnown && !gpus.some((gpu) => hasGpuName(gpu, name));
  }

  async #ask(): Promise<void> {
    await Promise.all([this.#nvidia.look(), this.#amd.look()]);
    for (const { maker } of this.#present().gpus) if (maker !== undefined) this.#makers.add(maker);
    this.#lookedAtMs = this.#options.clock.monotonicMs();
    this.#looking = null;
  }

  #waitFor(looking: Promise<void>, patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const forget = this.#options.clock.after(patienceMs, resolve);
      void looking.then(() => {
        forget();
        resolve();
      });
    });
  }

  /** Each tool counts from 0; on a machine with cards of both makers those of AMD come after the others. */
  #present(): MachineGpus {
    const { cudaVersion, gpus } = this.#nvidia.present;
    const firstFree = 1 + Math.max(-1, ...gpus.map(({ index }) => index));
    const ofAmd = this.#amd.present.gpus.map((gpu) => ({
      ...gpu,
      index: firstFree + gpu.index,
      driverId: gpu.uuid ?? String(gpu.index),
    }));
    return { gpus: [...gpus, ...ofAmd], cudaVersion };
  }
}
