import { describe, expect, test } from '@jest/globals';
import { acceptsCudaVersion, compareCudaVersions, parseCudaVersion } from './cuda-version.js';

describe('CUDA versions', () => {
  test.each([
    ['12.4', { major: 12, minor: 4 }],
    ['12.11', { major: 12, minor: 11 }],
    ['0.0', { major: 0, minor: 0 }],
    ['12', null],
    ['12.4.1', null],
    ['v12.4', null],
    [' 12.4', null],
    ['', null],
  ])('parses %j', (text, version) => {
    expect(parseCudaVersion(text)).toEqual(version);
  });

  test('are compared as numbers, part by part', () => {
    const sorted = ['13.0', '12.11', '11.8', '12.2', '9.10'].toSorted((a, b) => {
      const [left, right] = [parseCudaVersion(a), parseCudaVersion(b)];
      return left === null || right === null ? 0 : compareCudaVersions(left, right);
    });
    expect(sorted).toEqual(['9.10', '11.8', '12.2', '12.11', '13.0']);
  });

  test.each<[string, readonly string[], string | null, string | null, boolean]>([
    ['no constraint takes any version', [], null, '11.8', true],
    ['no constraint takes a host without version', [], null, null, true],
    ['allowed is exact', ['12.4', '12.6'], null, '12.6', true],
    ['allowed is no floor', ['12.4'], null, '12.6', false],
    ['a floor takes newer ones', [], '12.2', '12.11', true],
    ['a floor takes itself', [], '12.2', '12.2', true],
    ['a floor refuses older ones', [], '12.11', '12.2', false],
    ['a constraint refuses a host without version', [], '12.2', null, false],
    ['a constraint refuses an unreadable version', ['12.4'], null, 'unknown', false],
  ])('%s', (...[, allowedCudaVersions, minCudaVersion, hostVersion, accepted]) => {
    expect(acceptsCudaVersion({ allowedCudaVersions, minCudaVersion }, hostVersion)).toBe(accepted);
  });
});
