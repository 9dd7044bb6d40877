import { beforeEach, describe, expect, test } from '@jest/globals';
import type { PodObject } from '../api/kube-objects.js';
import { KnownPods } from './known-pods.js';
import { ROLE_LABEL } from './pod-labels.js';

const podOf = (name: string, version: string, uid = `uid of ${name}`): PodObject => ({
  metadata: { name, uid, resourceVersion: version, labels: { [ROLE_LABEL]: 'worker' } },
});

let pods: KnownPods;
/** A list that was asked for then comes in each test. */
let askedAt: number;

beforeEach(() => {
  pods = new KnownPods();
  pods.replaceAll([podOf('old', '90')], { askedAt: pods.moment, version: '100' });
  askedAt = pods.moment;
});

const known = (): Record<string, boolean> =>
  Object.fromEntries(pods.all.map(({ isGone, pod }) => [pod.metadata.uid, !isGone]));

describe('a list of Pods', () => {
  test('takes none away that was made after it', () => {
    pods.putNew(podOf('new', '101'));
    pods.replaceAll([podOf('old', '90')], { askedAt, version: '100' });
    expect(known()).toEqual({ 'uid of old': true, 'uid of new': true });
  });

  test('puts none in the place of one that was made after it under the same name', () => {
    pods.putNew(podOf('old', '101', 'another'));
    pods.replaceAll([podOf('old', '90')], { askedAt, version: '100' });
    expect(known()).toEqual({ another: true });
  });

  test('takes away what was made before it, and is not there', () => {
    pods.putNew(podOf('new', '101'));
    pods.replaceAll([podOf('old', '90')], { askedAt, version: '1000' });
    expect(known()).toEqual({ 'uid of old': true, 'uid of new': false });
  });

  test('is believed of what was known before it was asked for, also in a cluster that was set back', () => {
    pods.replaceAll([podOf('young', '3')], { askedAt, version: '5' });
    expect(known()).toEqual({ 'uid of old': false, 'uid of young': true });
  });

  test('is believed where versions cannot be compared', () => {
    pods.putNew(podOf('new', 'a'));
    pods.replaceAll([], { askedAt, version: '100' });
    expect(known()).toEqual({ 'uid of old': false, 'uid of new': false });
  });
});
