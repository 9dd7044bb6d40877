import { expect, test } from '@jest/globals';
import { healthCheckPorts, workerPorts } from './worker-ports.js';

test.each([
  ['nothing', {}, [80, 80]],
  ['one of them', { PORT: '8080' }, [8080, 80]],
  ['both', { PORT: '8080', PORT_HEALTH: '65535' }, [8080, 65_535]],
  ['no ports', { PORT: '0', PORT_HEALTH: '65536' }, [80, 80]],
  ['no numbers', { PORT: '', PORT_HEALTH: ' 81' }, [80, 80]],
])('where %s is said', (_, env, [port, healthPort]) => {
  expect(workerPorts(env)).toEqual({ port, healthPort });
});

test.each([
  ['nothing', {}, [80]],
  ['the port alone', { PORT: '8080' }, [80, 8080]],
  ['both', { PORT: '8080', PORT_HEALTH: '8081' }, [8081]],
  ['both the same', { PORT: '8080', PORT_HEALTH: '8080' }, [8080]],
  ['that of the checks alone', { PORT_HEALTH: '8081' }, [8081]],
])('where %s is said, checks are tried', (_, env, ports) => {
  expect(healthCheckPorts(env)).toEqual(ports);
});
