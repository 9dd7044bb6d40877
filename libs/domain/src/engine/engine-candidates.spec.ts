import { describe, expect, test } from '@jest/globals';
import { formatEngineAddress, parseEngineAddress } from './engine-address.js';
import { engineCandidates } from './engine-candidates.js';

const listOf = (settings: Record<string, string>): readonly string[] => {
  const choices = engineCandidates(settings);
  if (choices.kind === 'unusable') return [`${choices.setting}: ${choices.detail}`];
  return choices.candidates.map(
    ({ address, source, isNamed }) => `${formatEngineAddress(address)} ${source}${isNamed ? ' named' : ''}`,
  );
};

describe('candidates', () => {
  test('are the usual sockets where nothing is named', () => {
    expect(listOf({ XDG_RUNTIME_DIR: '/run/user/7' })).toEqual([
      'unix:///var/run/docker.sock Docker',
      'unix:///run/user/7/docker.sock rootless Docker',
      'unix:///run/user/7/podman/podman.sock rootless Podman',
      'unix:///run/podman/podman.sock Podman',
    ]);
    expect(listOf({ DOCKER_HOST: '' })).toEqual([
      'unix:///var/run/docker.sock Docker',
      'unix:///run/podman/podman.sock Podman',
    ]);
  });

  test('are the engine that DOCKER_HOST names, and no other', () => {
    expect(listOf({ DOCKER_HOST: 'unix:///x/docker.sock', XDG_RUNTIME_DIR: '/run/user/7' })).toEqual([
      'unix:///x/docker.sock DOCKER_HOST named',
    ]);
  });

  test('are the engine of our own setting before that of DOCKER_HOST', () => {
    expect(listOf({ DOCKER_HOST: 'unix:///x/docker.sock', BERTH_DOCKER_SOCKET: '/y.sock' })).toEqual([
      'unix:///y.sock BERTH_DOCKER_SOCKET named',
    ]);
  });

  test('are none where the setting cannot be read', () => {
    expect(listOf({ DOCKER_HOST: 'ssh://me@there' })).toEqual([
      'DOCKER_HOST: "ssh://me@there" is neither a socket (unix:///…) nor a network address (tcp://…)',
    ]);
  });

  test('speak TLS when DOCKER_TLS_VERIFY says so', () => {
    const choices = engineCandidates({ DOCKER_HOST: 'tcp://engine', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/c' });
    expect(choices).toMatchObject({
      candidates: [{ address: { kind: 'tcp', host: 'engine', port: 2_376, certFolder: '/c' } }],
    });
  });
});

test.each([
  ['tcp://engine:99', 'tcp://engine:99'],
  ['tcp://[fd00::1]:99/', 'tcp://[fd00::1]:99'],
  ['tcp://:99', 'tcp://127.0.0.1:99'],
  ['http://engine', 'tcp://engine:2375'],
  ['/a/b.sock', 'unix:///a/b.sock'],
])('%s is read as %s', (text, read) => {
  const reading = parseEngineAddress(text, null);
  expect(reading.kind === 'address' && formatEngineAddress(reading.address)).toBe(read);
});

test.each(['', 'npipe:////./pipe/docker', 'tcp://engine:0', 'tcp://engine:70000', 'https://engine', 'unix://x.sock'])(
  '%s is refused',
  (text) => expect(parseEngineAddress(text, null).kind).toBe('unusable'),
);
