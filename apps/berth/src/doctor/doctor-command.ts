import { parseConfig, systemClock, systemRandom } from '@berth/lifecycle';
import { versionOf } from '@berth/telemetry';
import { readDoctorConfig } from '../config.js';
import { EXIT_STATUS, misuse, type Command } from '../program/index.js';
import { checksOf } from './checks.js';
import { findingLines, isAllWell } from './finding-lines.js';
import { runChecks } from './run-checks.js';

/** `berth doctor` */
export const doctorCommand: Command = (run) => ({
  command: 'doctor',
  describe: 'Look at an installation from outside, and say what is wrong with it and what mends it',
  builder: (parser) => parser,
  handler: (parsed) =>
    run(parsed, async (output, { environment }) => {
      const config = parseConfig(environment, readDoctorConfig);
      if (config.databaseUrl === null && config.natsUrls.length === 0 && config.baseUrl === null) {
        throw misuse('no setting says where the installation is.', 'Set what its env/operator.env has.');
      }
      const tools = { clock: systemClock, random: systemRandom, version: versionOf() };
      const findings = await runChecks(checksOf(config, tools), systemClock);
      const isWell = isAllWell(findings);
      output.say({ json: { isWell, findings }, lines: findingLines(findings) });
      return isWell ? EXIT_STATUS.done : EXIT_STATUS.failed;
    }),
});
