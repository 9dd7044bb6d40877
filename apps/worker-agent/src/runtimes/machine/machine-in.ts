import { join } from 'node:path';
import { Machine, type MachineOptions } from './machine.js';
import type { Reserve } from './reserve.js';

/** What an operator may say of a machine. */
export interface ReportedMachine extends Pick<MachineOptions, 'simulatedGpus' | 'vcpus'> {
  readonly reserve: Reserve;
}

/** The machine of an agent whose home this is. Without a folder that workers write to, they write to the home. */
export const machineIn = (
  home: string,
  { reserve, simulatedGpus, vcpus }: ReportedMachine,
  {
    diskFolder = home,
    ...tools
  }: Pick<MachineOptions, 'clock' | 'logger'> & Partial<Pick<MachineOptions, 'diskFolder'>>,
): Machine =>
  new Machine({ reserve, simulatedGpus, vcpus, diskFolder, diskRecord: join(home, 'disk-room.json'), ...tools });
