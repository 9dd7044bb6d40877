import { encodeJson, isEnded } from '@berth/domain';
import type { StreamCursor } from '@berth/payloads';
import { PING, encodeEvent } from '@berth/http';
import type { StreamBatch } from './job-stream.js';
import { formatCursor, formatEndCursor } from './stream-cursor.js';
import { renderChunk } from './stream-rendering.js';

/**
 * A batch for a reader that stood at `from`: one event for each chunk, whose id is the cursor behind it. Before the
 * chunks of another attempt than the reader knows an `attempt` event says that all it has is void; after the last
 * chunk a `status` event says how the job ended. A batch with nothing in it is a ping.
 */
export function renderEvents({ chunks, error, next, status }: StreamBatch, from: StreamCursor): string {
  const { attempt } = next;
  const first = next.index - chunks.length;
  const events = chunks.map((body, offset) =>
    encodeEvent({ id: formatCursor({ attempt, index: first + offset + 1 }), data: renderChunk(body) }),
  );
  if (from.attempt !== 0 && from.attempt !== attempt) {
    const id = formatCursor({ attempt, index: 0 });
    events.unshift(encodeEvent({ event: 'attempt', id, data: encodeJson({ attempt }) }));
  }
  if (isEnded(status)) {
    const data = encodeJson(error === null ? { status } : { status, error });
    events.push(encodeEvent({ event: 'status', id: formatEndCursor(next), data }));
  }
  return events.length === 0 ? PING : events.join('');
}
