import { describe, expect, test } from '@jest/globals';
import { applyTemplate } from './apply-template.js';
import { templateAsSeenBy, type Template, type TemplateSpec } from './template.js';
import type { AccountId } from '../ids.js';

const TEMPLATE: TemplateSpec = {
  name: 't',
  container: {
    image: 'image:1',
    args: '--a',
    diskGb: 20,
    env: { A: 'template', B: 'template' },
    ports: ['80/http'],
    registryId: 'r1',
  },
  persistentMount: { sizeGb: 10, path: '/workspace' },
  isServerless: true,
  isPublic: true,
  source: 'community',
  category: 'NVIDIA',
  startsSsh: true,
  startsJupyter: true,
  allowedCudaVersions: ['12.4', '12.6'],
};

describe('the container', () => {
  test('is the template’s where the request says nothing', () => {
    expect(applyTemplate(TEMPLATE, {}).container).toEqual(TEMPLATE.container);
  });

  test('is the request’s, field by field, and its environment key by key', () => {
    const said = { image: 'image:2', args: '', diskGb: 1, ports: [], registryId: 'r2', env: { B: 'request', C: '' } };
    expect(applyTemplate(TEMPLATE, said).container).toEqual({
      ...said,
      env: { A: 'template', B: 'request', C: '' },
    });
  });

  test('has no credentials where the request says so', () => {
    expect(applyTemplate(TEMPLATE, { registryId: null }).container.registryId).toBeNull();
  });
});

test.each([
  ['a GPU request that says nothing of CUDA takes the template’s versions', {}, ['12.4', '12.6']],
  ['versions of the request win', { allowedCudaVersions: ['11.8'] }, ['11.8']],
  ['an empty list of the request means any', { allowedCudaVersions: [] }, []],
  ['a floor of the request keeps the template’s versions out', { minCudaVersion: '12.1' }, []],
  ['a CPU endpoint has none', undefined, []],
])('%s', (_, gpu, versions) => {
  expect(applyTemplate(TEMPLATE, { gpu }).allowedCudaVersions).toEqual(versions);
});

describe('a template', () => {
  const template: Template = { id: 't1', accountId: 'own' as AccountId, spec: TEMPLATE, createdAtMs: 0 };

  test('is seen whole by its account', () => {
    expect(templateAsSeenBy('own' as AccountId, template)).toBe(template);
  });

  test('that is public is seen by others without its registry', () => {
    expect(templateAsSeenBy('other' as AccountId, template)).toEqual({
      ...template,
      spec: { ...TEMPLATE, container: { ...TEMPLATE.container, registryId: null } },
    });
  });

  test('that is private is not seen by others', () => {
    const hidden = { ...template, spec: { ...TEMPLATE, isPublic: false } };
    expect(templateAsSeenBy('other' as AccountId, hidden)).toBeNull();
  });
});
