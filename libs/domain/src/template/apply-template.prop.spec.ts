import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyTemplate, type TemplateOverrides } from './apply-template.js';
import type { TemplateSpec } from './template.js';

const env = fc.dictionary(fc.constantFrom('A', 'B', 'C', '__proto__', 'constructor'), fc.string());
const versions = fc.uniqueArray(fc.constantFrom('11.8', '12.4', '13.0'));
const container = fc.record({
  image: fc.string({ minLength: 1 }),
  args: fc.string(),
  diskGb: fc.option(fc.integer({ min: 1, max: 100 })),
  env,
  ports: fc.array(fc.constantFrom('80/http', '81/tcp')),
  registryId: fc.option(fc.string({ minLength: 1 })),
});
const template: fc.Arbitrary<Pick<TemplateSpec, 'allowedCudaVersions' | 'container'>> = fc.record({
  container,
  allowedCudaVersions: versions,
});
const gpu = fc.option(
  fc.record({ allowedCudaVersions: versions, minCudaVersion: fc.constantFrom('12.1') }, { requiredKeys: [] }),
  { nil: undefined },
);
const overrides: fc.Arbitrary<TemplateOverrides> = fc
  .tuple(
    fc.record({ image: fc.string({ minLength: 1 }), args: fc.string(), diskGb: fc.nat() }, { requiredKeys: [] }),
    fc.record({ env, ports: fc.array(fc.string()), registryId: fc.option(fc.string()) }, { requiredKeys: [] }),
    gpu,
  )
  .map(([some, others, gpuRequest]) => ({ ...some, ...others, gpu: gpuRequest }));

test('every field is the request’s where it says it, and the template’s where it does not', () => {
  fc.assert(
    fc.property(template, overrides, (given, said) => {
      const { container: made } = applyTemplate(given, said);
      for (const field of ['image', 'args', 'diskGb', 'ports', 'registryId'] as const) {
        expect(made[field]).toEqual(Object.hasOwn(said, field) ? said[field] : given.container[field]);
      }
    }),
  );
});

test('the environment has the keys of both, and the request’s value where both have one', () => {
  fc.assert(
    fc.property(template, overrides, (given, said) => {
      const made = new Map(Object.entries(applyTemplate(given, said).container.env));
      const merged = new Map([...Object.entries(given.container.env), ...Object.entries(said.env ?? {})]);
      expect(made).toEqual(merged);
    }),
  );
});

test('a template applied to what it made changes nothing', () => {
  fc.assert(
    fc.property(template, overrides, (given, said) => {
      const { container: made } = applyTemplate(given, said);
      const { diskGb, ...rest } = made;
      expect(applyTemplate(given, { ...rest, ...(diskGb === null ? {} : { diskGb }) }).container).toEqual(made);
    }),
  );
});

test('CUDA versions come from the template only for a GPU request without any constraint', () => {
  fc.assert(
    fc.property(template, overrides, (given, said) => {
      const { allowedCudaVersions } = applyTemplate(given, said);
      const isSilent = said.gpu?.allowedCudaVersions === undefined && said.gpu?.minCudaVersion === undefined;
      const expected =
        said.gpu !== undefined && isSilent ? given.allowedCudaVersions : (said.gpu?.allowedCudaVersions ?? []);
      expect(allowedCudaVersions).toEqual(expected);
    }),
  );
});
