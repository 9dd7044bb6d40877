import { expect, test } from '@jest/globals';
import { isImageName } from './image-name.js';

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

test.each([
  ...['ubuntu', 'ubuntu:22.04', 'team/worker', 'team/sub__folder/wor-ker.v_1:Tag_1.2-x', `ubuntu@${DIGEST}`],
  ...['registry.example.com/team/worker:1', 'registry.example.com:5000/worker', `localhost/team/worker:1@${DIGEST}`],
  ...['localhost:5000/worker:1', '127.0.0.1:35000/team/worker:1', 'Registry.Example.COM/team/worker', 'a'.repeat(255)],
])('%s is a name', (image) => {
  expect(isImageName(image)).toBe(true);
});

test.each([
  ...[
    '',
    ':',
    '@',
    '/',
    '.',
    '..',
    ':1',
    'Ubuntu',
    'team/Worker',
    'тeam/worker',
    'a b',
    'a\u0000b',
    'a\nb',
    '-x',
    'x-',
  ],
  ...['team/worker/', '/team/worker', 'team//worker', 'localhost/', 'team/worker:', 'team/worker@', 'a:b:c', 'a@b@c'],
  ...['http://registry.example.com/team/worker', 'host:notaport/x', 'host:123456/x', '.host.com/x', 'host.com./x'],
  ...['../containers/json', 'team/../../info', 'team/..', 'json?all=1', 'team/worker#', 'team%2f..%2fworker'],
  ...['ubuntu@sha256:abc', `ubuntu@${DIGEST}0`, `ubuntu@${DIGEST.toUpperCase()}`, `ubuntu@md5:${'a'.repeat(32)}`],
  ...['a'.repeat(256), 'x'.repeat(10_000), `a:${'t'.repeat(129)}`, `a${'-a'.repeat(5_000)}/`],
])('%s is none', (image) => {
  expect(isImageName(image)).toBe(false);
});
