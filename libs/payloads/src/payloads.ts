import { type JobKey, type Payload, type RawJson } from '@berth/domain';
import type { Blobs } from './ports/attachments.port.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Keeps a small payload for the log and writes a large one beside it. */
export async function storePayload(
  blobs: Pick<Blobs, 'write'>,
  key: JobKey,
  payload: { readonly name: string; readonly json: RawJson; readonly inlineMaxBytes: number; readonly ttlMs: number },
): Promise<Payload> {
  // A UTF-16 unit is at most three UTF-8 bytes, so most payloads need no encoding to be judged.
  if (payload.json.length * 3 <= payload.inlineMaxBytes) return { kind: 'inline', json: payload.json };
  const bytes = encoder.encode(payload.json);
  if (bytes.byteLength <= payload.inlineMaxBytes) return { kind: 'inline', json: payload.json };
  return { kind: 'blob', manifest: await blobs.write(key, { name: payload.name, bytes }, payload.ttlMs) };
}

/** The JSON text of a payload; null when its parts have expired. */
export async function loadPayload(blobs: Pick<Blobs, 'read'>, key: JobKey, payload: Payload): Promise<RawJson | null> {
  if (payload.kind === 'inline') return payload.json;
  const bytes = await blobs.read(key, payload.manifest);
  return bytes === null ? null : (decoder.decode(bytes) as RawJson);
}
