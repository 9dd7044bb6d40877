import { expect, test } from '@jest/globals';
import type { Schema } from '@berth/contracts/http';
import { describeMembers } from './describe-members.js';

const described = (name: string, member: Schema): Schema | undefined =>
  describeMembers({
    openapi: '3.1.0',
    paths: {},
    components: { schemas: { Thing: { properties: { [name]: member } } } },
  }).components.schemas.Thing?.properties?.[name];

const OWN = { description: 'x', examples: ['y'] };
const OTHER = { items: { $ref: '#/components/schemas/Port' }, description: 'x' };

test.each<{ gives: string; name?: string; member: Schema; added: Schema }>([
  { gives: 'what a member means everywhere', name: 'hostId', member: {}, added: { description: 'Id of the host.' } },
  { gives: 'nothing to what says it itself', name: 'hostId', member: OWN, added: OWN },
  { gives: 'nothing to what only has a known name', name: 'ports', member: OTHER, added: OTHER },
  { gives: 'the default as example', member: { default: 3 }, added: { examples: [3] } },
  { gives: 'the first choice', member: { enum: ['a', 'b'] }, added: { examples: ['a'] } },
  { gives: 'the first choice of a list', member: { items: { enum: ['a', 'b'] } }, added: { examples: [['a']] } },
  { gives: 'an instant', member: { format: 'date-time' }, added: { examples: ['2026-01-01T12:00:00.000Z'] } },
])('gives $gives', ({ added, member, name = 'some' }) => {
  expect(described(name, member)).toEqual(expect.objectContaining({ ...member, ...added }));
});

test('nothing is made up where nothing is obvious', () => {
  expect(described('size', { type: 'integer' })).toEqual({ type: 'integer' });
  expect(described('ports', OTHER)).toEqual(OTHER);
});
