import { parseConfig, systemClock, systemRandom } from '@berth/lifecycle';
import type { Argv } from 'yargs';
import { readHostsConfig, type HostsConfig } from '../config.js';
import { EXIT_STATUS, misuse, type Command, type ToldOutcome } from '../program/index.js';
import {
  HOST,
  HOST_DETAIL,
  HOST_LIST,
  JOIN_TOKEN,
  type HostAnswer,
  type HostDetail,
  type JoinToken,
} from './host-answers.js';
import { agentVariables, detailLines, joinLines, listLines, wordOfState } from './host-lines.js';
import { ManagementClient } from './management-client.js';

/** `berth host …` */
export const hostCommand: Command = (run) => ({
  command: 'host',
  describe: 'Add hosts, look at them, and take them away',
  builder: (parser) =>
    SUBCOMMANDS.reduce((all, subcommand) => all.command(subcommand(run)), parser).demandCommand(
      1,
      'Name what to do with hosts.',
    ),
  handler: () => undefined,
});

interface HostArguments {
  readonly id?: string;
  readonly name?: string;
  readonly dataCenter?: string;
  readonly label?: readonly string[];
  readonly expiresIn?: number;
}

interface HostWork {
  readonly command: string;
  readonly describe: string;
  readonly builder?: (parser: Argv) => Argv;
  readonly work: (client: ManagementClient, given: HostArguments, config: HostsConfig) => Promise<ToldOutcome>;
}

const subcommandOf =
  ({ builder = (parser) => parser, command, describe, work }: HostWork): Command =>
  (run) => ({
    command,
    describe,
    builder,
    handler: (parsed) =>
      run(parsed, async (output, { environment }) => {
        const config = parseConfig(environment, readHostsConfig);
        const client = new ManagementClient(config, { clock: systemClock, random: systemRandom });
        output.say(await work(client, parsed as HostArguments, config));
        return EXIT_STATUS.done;
      }),
  });

const ofOneHost = (parser: Argv): Argv =>
  parser.positional('id', { type: 'string', demandOption: true, describe: 'Id of the host, as `list` shows it' });

const pathOf = ({ id = '' }: HostArguments): string => `/v2/hosts/${encodeURIComponent(id)}`;

const join = subcommandOf({
  command: 'join <name>',
  describe: 'Make a token with which a new host joins',
  builder: (parser) =>
    parser
      .positional('name', { type: 'string', demandOption: true, describe: "The host's name, for people" })
      .option('data-center', { type: 'string', describe: 'Where it stands (LOCAL-1)' })
      .option('label', { type: 'string', array: true, describe: 'NAME=VALUE, a word of your own about it; any number' })
      .option('expires-in', { type: 'number', describe: 'How long the token may be used, in seconds (3600)' }),
  work: async (client, { dataCenter, expiresIn, label, name }, { agentNatsUrl }) => {
    const token = await client.ask<JoinToken>(
      {
        method: 'POST',
        path: '/v2/hosts/join-tokens',
        body: {
          name,
          dataCenterId: dataCenter,
          expiresInSeconds: expiresIn,
          ...(label && { labels: labelsOf(label) }),
        },
        idempotencyKey: systemRandom.uuid(),
      },
      JOIN_TOKEN,
    );
    return {
      json: { ...token, environment: agentVariables(token, agentNatsUrl) },
      lines: joinLines(token, agentNatsUrl),
    };
  },
});

function labelsOf(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((label) => {
      const at = label.indexOf('=');
      if (at < 1) throw misuse(`--label "${label}" is not NAME=VALUE.`, 'Write it as --label rack=7.');
      return [label.slice(0, at), label.slice(at + 1)];
    }),
  );
}

const list = subcommandOf({
  command: 'list',
  describe: 'List all hosts',
  work: async (client) => {
    const answer = await client.ask<{ hosts: readonly HostAnswer[] }>({ method: 'GET', path: '/v2/hosts' }, HOST_LIST);
    return { json: answer, lines: listLines(answer.hosts) };
  },
});

const show = subcommandOf({
  command: 'show <id>',
  describe: 'Show a host, what it has, and its workers',
  builder: ofOneHost,
  work: async (client, given) => {
    const host = await client.ask<HostDetail>({ method: 'GET', path: pathOf(given) }, HOST_DETAIL);
    return { json: { ...host }, lines: detailLines(host) };
  },
});

const intent = (action: 'cordon' | 'uncordon' | 'drain' | 'readmit', describe: string): Command =>
  subcommandOf({
    command: `${action} <id>`,
    describe,
    builder: ofOneHost,
    work: async (client, given) => {
      const call = { method: 'POST', path: `${pathOf(given)}/action`, body: { action } } as const;
      const host = await client.ask<HostAnswer>(call, HOST);
      return { json: { ...host }, lines: [`${host.id} is ${wordOfState(host)}.`] };
    },
  });

const remove = subcommandOf({
  command: 'remove <id>',
  describe: 'Remove a host: it is refused from then on',
  builder: ofOneHost,
  work: async (client, given) => {
    await client.tell({ method: 'DELETE', path: pathOf(given) });
    return { json: { id: given.id, removed: true }, lines: [`${given.id ?? ''} is removed. Stop its agent.`] };
  },
});

const SUBCOMMANDS: readonly Command[] = [
  join,
  list,
  show,
  intent('cordon', 'Give a host no new workers'),
  intent('uncordon', 'Use a host as before'),
  intent('drain', 'Empty a host: its workers leave, each after its job'),
  remove,
  intent('readmit', "Let a cluster's node join again that was removed"),
];
