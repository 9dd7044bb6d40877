import type { Duplex } from 'node:stream';
import type { Clock } from '@berth/lifecycle';
import type { LinkRefusal } from '../worker-link.port.js';
import type { OpenTarget } from './frame.js';

export interface MuxEnd {
  /** Why it was lost; null: both sides were done with it. */
  readonly cause: string | null;
  /** Streams and questions that were in it. */
  readonly requests: number;
}

/** What one side does with questions. The router asks, and the host answers. */
export interface MuxRole {
  /** Questions without an answer, in either direction. */
  openCount(): number;
  /** @throws FrameError */
  opened(id: number, target: OpenTarget): void;
  /** @throws FrameError */
  admitted(id: number): void;
  /** False: it is no question of this side. */
  refused(id: number, reason: LinkRefusal): boolean;
  /** The other side has given up a question. False: it is none that is open. */
  givenUp(id: number): boolean;
  /** Something of what was in it is over, or the other side lets nothing begin in it any more. */
  changed(): void;
  /** The connection has closed. Called once. */
  closed(end: MuxEnd): void;
}

export interface MuxOptions {
  /** Of which nothing has been read. */
  readonly socket: Duplex;
  readonly clock: Clock;
  /** Whether the other side knows the frame that says which step of a trace a stream is. */
  readonly knowsTraces: boolean;
}
