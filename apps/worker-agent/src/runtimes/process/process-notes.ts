import { OWN_MACHINE, VOLUME_PATH, VOLUME_PATH_VARIABLE, VOLUME_SIZE_NOTE } from '../container-runtime.port.js';

/** Where each of them is reached. */
export const ADDRESS = OWN_MACHINE;

const LIMITS_NOTE = 'The limits of vCPU, memory and disk are not kept: the host runs its workers as plain processes.';
const VOLUME_NOTE = `The network volume is at $${VOLUME_PATH_VARIABLE}, not at ${VOLUME_PATH}: nothing is mounted for a process.`;

interface HasVolume {
  readonly volumeFolder?: string;
}

/** The folder of the network volume, to be written down with the worker. */
export const volumeOf = ({ volumeFolder }: HasVolume): HasVolume =>
  volumeFolder === undefined ? {} : { volumeFolder };

/** What a plain process does not have of its start's wish. */
export const notesOn = ({ volumeFolder }: HasVolume): readonly string[] =>
  volumeFolder === undefined ? [LIMITS_NOTE] : [LIMITS_NOTE, VOLUME_NOTE, VOLUME_SIZE_NOTE];
