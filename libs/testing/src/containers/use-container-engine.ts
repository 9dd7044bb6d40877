import { makeTempFolder, startEngine, type ContainerEngine, type TempFolder } from '@berth/servers';
import { afterAll, beforeAll } from '@jest/globals';

/** A container engine of one spec file, without images; for specs named `*.engine.spec.ts` only. */
export interface ContainerEngineFixture {
  readonly engine: ContainerEngine;
}

export interface UseContainerEngineOptions {
  /** True: the base image is there before the first test; a minute the first time on a machine. */
  readonly hasBaseImage?: boolean;
  /** True: what it keeps is in memory, for suites that build large images. */
  readonly isInMemory?: boolean;
}

const START_TIMEOUT_MS = 240_000;
const BUILD_TIMEOUT_MS = 600_000;

/** Call once at the top of a spec: starts the engine before its first test and removes all of it after its last. */
export const useContainerEngine = (options: UseContainerEngineOptions = {}): ContainerEngineFixture => {
  let folder: TempFolder | undefined;
  let engine: ContainerEngine | undefined;
  beforeAll(
    async () => {
      folder = await makeTempFolder('berth-engine');
      engine = await startEngine({ folder: folder.path, isInMemory: options.isInMemory === true });
      if (options.hasBaseImage === true) await engine.loadBaseImage();
    },
    options.hasBaseImage === true ? BUILD_TIMEOUT_MS : START_TIMEOUT_MS,
  );
  afterAll(async () => {
    await engine?.stop();
    await folder?.remove();
  }, START_TIMEOUT_MS);
  return {
    get engine() {
      if (engine === undefined) throw new Error('The engine starts in beforeAll.');
      return engine;
    },
  };
};
