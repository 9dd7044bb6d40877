import type { Clock } from '@berth/lifecycle';
import type Dockerode from 'dockerode';
import { HOST_LABEL } from './container-options.js';
import { EventReader } from './event-reader.js';

const RECONNECT_MS = 1_000;

/**
 * Calls `onChange` when the engine says that a container of this host started or ended, and before that `onEnd` for each
 * that ended, until the signal aborts. Events that are missed while the engine is away are no loss: they are hints.
 */
export async function followEvents(
  engine: Dockerode,
  { hostId, onChange, onEnd, clock, signal }: EventsOptions,
): Promise<void> {
  const filters = { event: ['start', 'die'], label: [`${HOST_LABEL}=${hostId}`] };
  // The client's types do not know the signal.
  const options: Dockerode.GetEventsOptions & { readonly abortSignal: AbortSignal } = { filters, abortSignal: signal };
  while (!signal.aborted) {
    try {
      const stream = await engine.getEvents(options);
      const reader = new EventReader();
      for await (const bytes of stream) {
        reader.endsIn(bytes as Buffer).forEach((containerId) => onEnd(containerId));
        onChange();
      }
    } catch {
      // The engine restarts, or does not answer yet: every verb says so to its caller, and here we only try again.
    }
    await clock.sleep(RECONNECT_MS, signal);
  }
}

export interface EventsOptions {
  readonly hostId: string;
  readonly onChange: () => void;
  readonly onEnd: (containerId: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
