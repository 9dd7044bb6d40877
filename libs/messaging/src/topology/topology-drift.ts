import type { StreamConfig } from '@nats-io/jetstream';

/** Settings that the broker never changes on a stream that exists. */
const FIXED: ReadonlySet<string> = new Set(['storage', 'retention', 'persist_mode', 'max_consumers']);

const DEFAULTS: Readonly<Record<string, unknown>> = { persist_mode: 'default' };

export interface Drift {
  readonly fixed: readonly string[];
  readonly changeable: readonly string[];
}

/** Which of the wanted settings the stream has otherwise. A setting that is not wanted explicitly is the operator's. */
export function driftOf(present: Partial<StreamConfig>, wanted: Partial<StreamConfig>): Drift {
  const names = [...new Set([...Object.keys(wanted), ...FIXED])];
  const differing = names.filter((name) => !isSame(settingOf(present, name), settingOf(wanted, name)));
  return {
    fixed: differing.filter((name) => FIXED.has(name)),
    changeable: differing.filter((name) => !FIXED.has(name)),
  };
}

const settingOf = (config: Partial<StreamConfig>, name: string): unknown =>
  (config as Readonly<Record<string, unknown>>)[name] ?? DEFAULTS[name];

/** Equal as far as `wanted` goes: the broker may add defaults of its own inside. */
function isSame(present: unknown, wanted: unknown): boolean {
  if (wanted === undefined || present === wanted) return true;
  if (typeof wanted !== 'object' || wanted === null || typeof present !== 'object' || present === null) return false;
  if (Array.isArray(wanted) && (!Array.isArray(present) || present.length !== wanted.length)) return false;
  return Object.entries(wanted).every(([name, value]) => isSame((present as Record<string, unknown>)[name], value));
}

/** A stream has a setting that only a new stream can have. */
export class TopologyDriftError extends Error {
  constructor(stream: string, settings: readonly string[]) {
    super(
      `Stream ${stream} was made with other settings that cannot be changed: ${settings.join(', ')}. ` +
        'CURSOR_* can be deleted and are made again; any other must be copied to a new one.',
    );
    this.name = 'TopologyDriftError';
  }
}
