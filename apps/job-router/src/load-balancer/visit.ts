import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { soundTraceparent, traceIdOf } from '@berth/domain';
import type { DispatchedConnection } from '@berth/http';
import type { VisitTrace } from './visit-trace.js';

/** Bytes of bodies, and of what WebSockets say. */
export interface Traffic {
  /** Of the caller. */
  inBytes: number;
  /** Of the worker. */
  outBytes: number;
}

/** One request on its way, as it came. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: DispatchedConnection;
  /** By its host name; there may be no such endpoint. */
  readonly endpointId: string;
  readonly requestId: string;
  /** Monotonic. */
  readonly beganAtMs: number;
  /** Null: it is not recorded, or it is not known yet who asks. */
  trace: VisitTrace | null;
  /** Resolves when those before it on its connection are over that it may not be under way with. */
  readonly turn: Promise<unknown>;
  /** What has passed so far. */
  readonly traffic: Traffic;
  /** Aborts when the caller went away before the answer had all been written. */
  readonly gone: AbortSignal;
  /** Of a request that wants to become a WebSocket: what came behind its head. Null: it does not. */
  readonly wanted: WantedSocket | null;
}

/** Recorded or not; null: its caller said none that could be read. */
export function traceIdOfVisit({ request, trace }: Pick<Visit, 'request' | 'trace'>): string | null {
  const traceparent = trace?.traceparent ?? soundTraceparent(request.rawHeaders);
  return traceparent === null ? null : traceIdOf(traceparent);
}

/** Early bytes of a caller that may not send any before it is answered. */
const EARLY_MAX_BYTES = 64 * 1_024;

/**
 * The connection of a caller that wants a WebSocket and waits for the answer. It is read meanwhile, for nothing else shows
 * that the caller has gone.
 */
export class WantedSocket {
  readonly socket: Socket;
  readonly #early: Buffer[];
  readonly #keep: (chunk: Buffer) => void;

  constructor(socket: Socket, head: Buffer) {
    this.socket = socket;
    this.#early = [head];
    let bytes = head.length;
    this.#keep = (chunk) => {
      this.#early.push(chunk);
      bytes += chunk.length;
      if (bytes > EARLY_MAX_BYTES) socket.destroy();
    };
    socket.on('data', this.#keep);
    socket.once('end', this.#left);
  }

  /** An answer in HTTP, where it is not the one that was wanted. */
  makeResponse(request: IncomingMessage): ServerResponse {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(this.socket);
    // No server looks after it any more.
    response.once('finish', () => this.socket.destroySoon());
    return response;
  }

  /** The socket for whoever pipes it, and what came on it until now. */
  take(response: ServerResponse): Buffer {
    this.socket.off('data', this.#keep).off('end', this.#left).pause();
    response.detachSocket(this.socket);
    return Buffer.concat(this.#early);
  }

  readonly #left = (): void => {
    this.socket.destroy();
  };
}

/** Aborts when the answer can no longer be written to its end. */
export function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** How the end of its body is told. */
export const framingOf = ({ headers }: IncomingMessage): 'none' | 'length' | 'chunked' => {
  if (headers['transfer-encoding'] !== undefined) return 'chunked';
  return Number(headers['content-length'] ?? 0) > 0 ? 'length' : 'none';
};
