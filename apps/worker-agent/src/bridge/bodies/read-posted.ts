import { createHash } from 'node:crypto';
import { INLINE_OUTPUT_MAX_BYTES, type RawJson } from '@berth/domain';
import type { JsonOutput } from '../../job-client/index.js';
import { readPostedBytes, splitChunkBytes, textOf, type PostedResult } from '@berth/contracts';

/** A body for the thread, with its memory. */
export interface BodyAsk {
  readonly kind: 'done' | 'stream';
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
}

/** What the thread made of it. Its large members are bytes, which change hands without a copy. */
export type BodyAnswer =
  | { readonly kind: 'done'; readonly posted: PostedResult<JsonOutput> }
  | { readonly kind: 'stream'; readonly chunks: readonly Uint8Array<ArrayBuffer>[] };

/** All that is done with a large body: it takes time and memory with its size, so it is done in a thread. */
export function readPosted({ kind, blocks }: BodyAsk): BodyAnswer {
  const body = Buffer.concat(blocks);
  if (kind === 'done') return { kind, posted: readPostedBytes(body, toOutput) };
  return { kind, chunks: splitChunkBytes(body).map((chunk) => new TextEncoder().encode(chunk)) };
}

/** The memory in an answer that can be handed over. */
export function memoryOf(answer: BodyAnswer): readonly ArrayBuffer[] {
  if (answer.kind === 'stream') return answer.chunks.map(({ buffer }) => buffer);
  const { posted } = answer;
  const output = posted.kind === 'progress' ? posted.output : posted.ending.output;
  return output === null || typeof output === 'string' ? [] : [output.utf8.buffer];
}

function toOutput(utf8: Uint8Array): JsonOutput {
  if (utf8.byteLength <= INLINE_OUTPUT_MAX_BYTES) return textOf(utf8) as RawJson;
  // Without what else was in the body.
  const own = new Uint8Array(utf8);
  return { utf8: own, sha256: createHash('sha256').update(own).digest('hex') };
}
