import type { Socket } from 'node:net';
import { DoorScene, type RawCaller, type SceneOptions } from './door-scene.js';
import { RawWorker, type RawAnswer } from './raw-worker.js';

/** `|` is the end of a line as HTTP has it. */
export const lines = (text: string): string => text.replaceAll('|', '\r\n');

/** Says all of it, and ends. */
export const says = (text: string) => (socket: Socket) => {
  socket.end(lines(text), 'latin1');
};

/** A door with one worker that says bytes; anew with each `open`. */
export class RawScene {
  scene = new DoorScene();
  worker = new RawWorker(() => undefined);

  async open(answer: RawAnswer, options: SceneOptions = {}): Promise<RawCaller> {
    this.scene = new DoorScene(options);
    this.worker = new RawWorker(answer);
    await this.scene.open();
    this.scene.assign('w1', await this.worker.open());
    return this.scene.caller();
  }

  async close(): Promise<void> {
    // Sockets end with both their ends.
    await this.worker.close();
    await this.scene.close();
  }
}
