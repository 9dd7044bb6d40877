import 'reflect-metadata';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as http from './index.js';

const FOLDER = resolve(import.meta.dirname, '../../fixtures');
const CLASSES: Readonly<Record<string, unknown>> = http;

type Body = Readonly<Record<string, unknown>>;

const fixtures = readdirSync(FOLDER).flatMap((version) =>
  readdirSync(join(FOLDER, version, 'http')).map((file) => ({
    version,
    name: file.replace('.json', ''),
    body: JSON.parse(readFileSync(join(FOLDER, version, 'http', file), 'utf8')) as Body,
  })),
);

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  CreateAccountDto: ['name'],
  CreateApiKeyDto: ['name'],
  CreateEndpointDto: ['name', 'scaling', 'type'],
  CreateJoinTokenDto: ['name'],
  CreateNetworkVolumeDto: ['dataCenter', 'name', 'size'],
  CreateRegistryDto: ['name', 'password', 'username'],
  CreateTemplateDto: ['image', 'name'],
  CreateV1EndpointDto: ['name', 'templateId'],
  HostActionDto: ['action'],
  WorkerActionDto: ['action'],
};

const errorsOf = (name: string, body: unknown): readonly string[] => {
  const dtoClass = CLASSES[name] as Parameters<typeof http.readDto>[0];
  return http.readDto(dtoClass, body).errors;
};

const without = (body: Body, member: string): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== member));

test('there is a fixture of every class that is the whole body of a request, or its query', () => {
  const whole = /^(Create|Update)\w+(?<!Request)Dto$|(Action|Query|Include)Dto$/;
  const requests = Object.keys(CLASSES).filter((name) => whole.test(name));
  expect(fixtures.filter(({ version }) => version === 'v1').map(({ name }) => name)).toEqual(requests.toSorted());
});

describe.each(fixtures)('$name of $version', ({ body, name }) => {
  test('is read without a fault', () => {
    expect(errorsOf(name, body)).toEqual([]);
  });

  test('lacks a member that is required by its name, and no other', () => {
    const missed = Object.keys(body).filter((member) => errorsOf(name, without(body, member)).length > 0);
    expect(missed.toSorted()).toEqual(REQUIRED[name] ?? []);
    for (const member of missed) {
      expect(errorsOf(name, without(body, member))).toEqual([expect.stringContaining(`$.${member}: `)]);
    }
  });

  test('is refused with a member that nobody knows, by its name', () => {
    expect(errorsOf(name, { ...body, unheardOf: 1 })).toEqual(["$: additional properties 'unheardOf' not allowed"]);
  });
});
