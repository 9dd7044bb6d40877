export { ClusterApi } from './cluster-api.js';
export { ClusterError, isAnswered } from './cluster-error.js';
export { isNodeToken, readNodeToken, type NodeTokenClaims } from './node-token.js';
export { openClusterApi } from './open-cluster-api.js';
export { TOLERATIONS, type Toleration } from './toleration.js';
export { readJsonSetting } from './read-json-setting.js';
export { readKubeConfig } from './read-kube-config.js';
