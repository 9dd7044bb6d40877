import type { EndpointOperation } from '../../src/worker/plan-endpoint.js';

/** Operations as short lines: `create 2`, `drain a scale-down`, `forget b host-lost`. */
export const operationLines = (operations: readonly EndpointOperation[]): readonly string[] =>
  operations.map((operation) => {
    switch (operation.kind) {
      case 'create-worker':
        return `create ${operation.release}`;
      case 'drain-worker':
        return `drain ${operation.workerId} ${operation.reason}`;
      case 'resume-worker':
        return `resume ${operation.workerId}`;
      case 'forget-worker':
        return `forget ${operation.workerId} ${operation.reason}`;
    }
  });
