/** Far above an event with all labels of a container; what goes on beyond it is no event. */
const EVENT_CHARACTERS_MAX = 64 * 1_024;

/** Reads an engine's events as they come, cut anywhere. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = '';

  /** Ids of the containers whose end these bytes tell. What cannot be understood tells nothing: events are hints. */
  endsIn(bytes: Uint8Array): readonly string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    const rest = lines.pop() ?? '';
    this.#rest = rest.length > EVENT_CHARACTERS_MAX ? '' : rest;
    return lines.flatMap(endOf);
  }
}

function endOf(line: string): readonly string[] {
  try {
    const { Action: action, Actor: actor } = JSON.parse(line) as EngineEvent;
    return action === 'die' && typeof actor?.ID === 'string' ? [actor.ID] : [];
  } catch {
    // The rest of what was too long, or nothing at all.
    return [];
  }
}

interface EngineEvent {
  readonly Action?: unknown;
  readonly Actor?: { readonly ID?: unknown };
}
