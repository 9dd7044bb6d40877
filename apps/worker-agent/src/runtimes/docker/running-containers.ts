import type { ContainerInfo } from 'dockerode';
import type { OwnedContainer } from '../container-runtime.port.js';

/**
 * What was looked at and runs. The engine's list, which is asked for every second, has neither exit codes nor start times,
 * and what runs does not change; so only what is new or has ended is looked at again.
 */
export class RunningContainers {
  #looks: ReadonlyMap<string, OwnedContainer> = new Map();
  /** Told to have ended, and not seen so yet. */
  #ended: ReadonlySet<string> = new Set();

  /**
   * The engine has told its end. Docker 20.10 does so before it takes the container's network away, and lists it as
   * running until then; who looks at it waits for its end.
   */
  noteEnd(containerId: string): void {
    this.#ended = new Set([...this.#ended, containerId]);
  }

  /** Undefined where it must be looked at. */
  find({ Id: id, State: state }: Pick<ContainerInfo, 'Id' | 'State'>): OwnedContainer | undefined {
    return state === 'running' && !this.#ended.has(id) ? this.#looks.get(id) : undefined;
  }

  /** @param containers all that the last list has */
  keep(containers: readonly OwnedContainer[]): void {
    const running = containers.filter(({ state }) => state.kind === 'running');
    const isEnded = ({ containerId }: OwnedContainer): boolean => this.#ended.has(containerId);
    this.#looks = new Map(running.filter((each) => !isEnded(each)).map((each) => [each.containerId, each]));
    this.#ended = new Set(running.filter(isEnded).map(({ containerId }) => containerId));
  }
}
