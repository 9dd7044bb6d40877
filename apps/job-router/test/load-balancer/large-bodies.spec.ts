import { eventually } from '@berth/testing';
import { afterEach, expect, test } from '@jest/globals';
import { DoorScene } from './door-scene.js';

const MEGABYTE = 1_024 * 1_024;
const PIECE = Buffer.alloc(256 * 1_024, 'x');
const LARGE_BYTES = 256 * MEGABYTE;
/** Of the process, in which both ends of the way lie too. */
const GROWTH_MAX_BYTES = 150 * MEGABYTE;

let scene: DoorScene;
afterEach(() => scene.close());

test('more than the process may grow by goes through each way at once, and is never in memory', async () => {
  scene = new DoorScene({ bodyBytesMax: LARGE_BYTES });
  await scene.open();
  await scene.addWorker('w1', (request, response) => {
    response.writeHead(200, { 'content-length': LARGE_BYTES });
    request.pipe(response);
  });
  const { socket } = scene.caller();
  let [heard, most] = [0, 0];
  const atFirst = process.memoryUsage().rss;
  socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
    heard += chunk.length;
    most = Math.max(most, process.memoryUsage.rss());
  });
  socket.write(
    `POST / HTTP/1.1\r\nHost: ep1.lb.test\r\nAuthorization: Bearer ${scene.key}\r\nContent-Length: ${LARGE_BYTES}\r\n\r\n`,
  );
  let sent = 0;
  const more = (): void => {
    while (sent < LARGE_BYTES) {
      sent += PIECE.length;
      if (!socket.write(PIECE)) return;
    }
  };
  socket.on('drain', more);
  more();
  await eventually(() => expect(heard).toBeGreaterThan(LARGE_BYTES), { deadlineMs: 90_000 });
  expect(most - atFirst).toBeLessThan(GROWTH_MAX_BYTES);
});
