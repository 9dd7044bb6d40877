import { expect, test } from '@jest/globals';
import { RouteTable } from './route-table.js';

test('a path is known by its pattern, with the methods of all its routes', () => {
  const routes = new RouteTable();
  routes.add('/v2/serverless', ['POST']);
  routes.add('/v2/serverless', ['GET', 'HEAD']);
  routes.add('/v2/serverless/:id', ['DELETE']);
  routes.add('/v2/hosts/join-tokens', ['POST']);
  routes.add('/v2/:endpointId/openai/*', ['GET', 'POST']);
  expect(routes.methodsOf('/v2/serverless?limit=1')).toEqual(['GET', 'HEAD', 'POST']);
  expect(routes.methodsOf('/v2/serverless/abc')).toEqual(['DELETE']);
  expect(routes.methodsOf('/v2/serverless/abc/workers')).toEqual([]);
  expect(routes.methodsOf('/v2/ep/openai/v1/models')).toEqual(['GET', 'POST']);
  expect(routes.methodsOf('/v2/hosts/join.tokens')).toEqual([]);
  expect(routes.methodsOf('/v2/serverless/')).toEqual([]);
  expect(routes.methodsOf('/nothing')).toEqual([]);
});
