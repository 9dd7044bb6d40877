import { expect, test } from '@jest/globals';
import { workerPorts } from './worker-ports.js';

test.each([
  ['nothing', {}, [80, 80]],
  ['one of them', { PORT: '8080' }, [8080, 80]],
  ['both', { PORT: '8080', PORT_HEALTH: '65535' }, [8080, 65_535]],
  ['no ports', { PORT: '0', PORT_HEALTH: '65536' }, [80, 80]],
  ['no numbers', { PORT: '', PORT_HEALTH: ' 81' }, [80, 80]],
])('where %s is said', (_, env, [port, healthPort]) => {
  expect(workerPorts(env)).toEqual({ port, healthPort });
});
