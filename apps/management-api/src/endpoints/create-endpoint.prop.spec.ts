import { expect, test } from '@jest/globals';
import { CreateEndpointDto } from '@berth/contracts/http';
import { PlatformError } from '@berth/domain';
import { PROBLEMS, ValidationPipe } from '@berth/http';
import fc from 'fast-check';
import { requestOfEndpoint } from './endpoint.mapper.js';

const GOOD = {
  name: 'echo',
  type: 'QUEUE',
  image: 'local/echo',
  cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
  gpu: { pools: ['ADA_24'], excludedTypes: ['x'], count: 1, allowedCudaVersions: ['12.4'], minCudaVersion: '12.4' },
  scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
  workers: { min: 0, max: 1, idleTimeout: 1 },
  env: { A: 'b' },
  ports: ['80/http'],
  args: 'a b',
  disk: 1,
  registry: null,
  templateId: 't',
  dataCenterIds: ['d'],
  networkVolumes: ['v'],
  flashboot: 'OFF',
  timeout: 1_000,
};

const pipe = new ValidationPipe();
const read = (text: string): CreateEndpointDto =>
  pipe.transform(text, { type: 'body', metatype: CreateEndpointDto }) as CreateEndpointDto;

const hostile = fc.jsonValue({ noUnicodeString: false });
const nameOfField = fc.constantFrom(...Object.keys(GOOD), 'constructor', '__proto__', 'toString', 'bogus');

/** A good body in which some values, at the top or one level below, are anything that JSON can say. */
const body = fc
  .tuple(fc.array(fc.tuple(nameOfField, fc.option(fc.string()), hostile), { maxLength: 4 }))
  .map(([changes]) => {
    const members = new Map<string, unknown>(Object.entries(structuredClone(GOOD)));
    for (const [name, inner, value] of changes) {
      const old = members.get(name);
      const isNested = inner !== null && typeof old === 'object' && old !== null && !Array.isArray(old);
      members.set(name, isNested ? { ...old, [inner]: value } : value);
    }
    const texts = [...members].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return `{${texts.join(',')}}`;
  });

test('any body is either refused as the caller’s fault or becomes a request that can be stored', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        body,
        hostile.map((value) => JSON.stringify(value)),
        fc.string(),
      ),
      (text) => {
        try {
          const dto = read(text);
          const stored = JSON.stringify(requestOfEndpoint(dto));
          expect(stored).not.toContain('\\u0000');
          expect(stored.isWellFormed()).toBe(true);
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error;
          expect([400, 422]).toContain(PROBLEMS[error.code].status);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('the good body is good', () => {
  expect(read(JSON.stringify(GOOD))).toMatchObject({ name: 'echo' });
});
