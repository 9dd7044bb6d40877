import type { HostId } from '@berth/domain';

/** What an agent asks a router. */
export const JOB_VERBS = ['take', 'renew', 'chunk', 'progress', 'download', 'upload', 'done'] as const;
export type JobVerb = (typeof JOB_VERBS)[number];

/** What an agent asks the control plane. */
export const HOST_VERBS = ['join', 'report'] as const;
export type HostVerb = (typeof HOST_VERBS)[number];

/** Name under which an agent connects to the broker that has only its one-time token yet. */
export const JOINING_USER = 'join';
/** Name under which an agent asks why its token was refused: it may ask that, and nothing else. */
export const REFUSED_USER = 'join-refused';

/** `*` stands for any host, in subscriptions of the server side. */
export const jobSubject = (hostId: HostId | '*', verb: JobVerb): string => `agents.${hostId}.up.job.${verb}`;
export const hostSubject = (hostId: HostId | '*', verb: HostVerb): string => `agents.${hostId}.up.host.${verb}`;

/**
 * Agent → every router: a worker takes no more jobs. Heard by all, since each may hold takes of it; nobody answers.
 * `*` stands for any host.
 */
export const withdrawSubject = (hostId: HostId | '*'): string => `agents.${hostId}.up.job.withdraw`;

/** Agent → controllers: what is in flight at its load-balanced workers. `*` stands for any host. */
export const hostDemandSubject = (hostId: HostId | '*'): string => `agents.${hostId}.up.demand`;

/** Router → agent: stop these jobs. */
export const stopSubject = (hostId: HostId): string => `agents.${hostId}.down.stop`;
/** Router → agent: another router's process is gone. */
export const goneSubject = (hostId: HostId): string => `agents.${hostId}.down.gone`;
/** Router → agent: open a tunnel to me. */
export const tunnelSubject = (hostId: HostId): string => `agents.${hostId}.down.tunnel`;
/** Control plane → agent: your desired workers changed, report now and hear (`WakeMessage`). */
export const wakeSubject = (hostId: HostId): string => `agents.${hostId}.down.wake`;

/**
 * Control plane → agent: tell what workers have printed. Answered below `logAnswerSubject`, since an agent speaks nowhere
 * else but under its own name.
 */
export const logsSubject = (hostId: HostId | '*'): string => `agents.${hostId}.down.logs`;
/** Agent → the process that asked for logs, by the name that it gave itself. */
export const logAnswerSubject = (hostId: HostId | '*', asker: string): string => `agents.${hostId}.up.logs.${asker}`;

/** A token of its own before the host's: only then can the broker's permissions name the inboxes of all hosts. */
const AGENT_INBOX = '_INBOX_agent';

/** Where the routers hear what they have asked. */
export const ROUTER_INBOX = '_INBOX_router';

/** Where whoever looks after the installation hears what it has asked. */
export const OPERATOR_INBOX = '_INBOX_operator';

/** Below it, and nowhere else, the server side answers this host. `*` stands for any host, in permissions. */
export const inboxPrefix = (hostId: HostId | '*'): string => `${AGENT_INBOX}.${hostId}`;

/** Whether it is a subject, or a pattern of subjects, that names the host that asks or tells. */
export const isAgentSubject = (subject: string): boolean => subject.startsWith('agents.');

/** A part of the host's inbox: an agent that asks why its token was refused hears that, and nothing else told to its host. */
export const refusedInboxPrefix = (hostId: HostId): string => `${inboxPrefix(hostId)}.refused`;

/** The host that a message's subject names; the broker lets an agent publish under its own id only. */
export function hostOfSubject(subject: string): HostId {
  const hostId = subject.split('.')[1];
  if (hostId === undefined || hostId === '') throw new Error(`no host in subject ${subject}`);
  return hostId as HostId;
}
