export { type HostVolumes } from './host-volumes.port.js';
export { NO_VOLUMES } from './no-volumes.js';
export { VolumeFolder } from './volume-folder.js';
