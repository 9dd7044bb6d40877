import { logBrokerConformance } from '../src/conformance/log-broker.conformance.js';
import { ModelLogBroker } from '../src/log-simulator/model-log-broker.js';

logBrokerConformance('the model broker', () => {
  const port = new ModelLogBroker();
  return Promise.resolve({
    port,
    shardOf: () => 0,
    putGarbage: (endpointId) => Promise.resolve(port.putGarbage(endpointId)),
    leaveRoom: (_, bytes) => Promise.resolve(port.leaveRoom(bytes)),
  });
});
