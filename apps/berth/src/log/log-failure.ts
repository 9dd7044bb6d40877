import { PlatformError, cleanText, type EndpointId } from '@berth/domain';
import { BrokerApiError } from '@berth/messaging';
import { connectionFailureOf, isRefusedByBroker, wordsOfFailure } from '../connections/index.js';
import { CommandError, misuse } from '../program/index.js';

const STREAM_NOT_FOUND = 10_059;
const CAUSE_MAX_CHARACTERS = 500;
const SETTING = 'BERTH_NATS_URL';
const OWN_KEY =
  'BERTH_NATS_SEED must be that of env/operator.env, and BERTH_ROUTER_SEED the one of env/job-router.env.';

/** Why nothing came of it, with what to do. What is no failure of the broker, or of the way to it, stays as it is. */
export function logFailureOf(error: unknown): unknown {
  if (error instanceof PlatformError) return unavailable(error);
  const forbidden = forbiddenBy(error);
  if (forbidden === null) return error;
  return misuse(`The broker does not let this user at the log: ${shown(forbidden.message)}`, OWN_KEY);
}

/** @param url may carry user and password */
export function noConnection(url: string, error: unknown): CommandError {
  const failure = connectionFailureOf(error);
  const where = `No connection to ${withoutSecrets(url)}`;
  if (isRefusedByBroker(failure)) return misuse(`${where}: it does not know this user.`, OWN_KEY);
  const { mend, says } = wordsOfFailure(SETTING, failure);
  // A broker that does not know a key asks a management API, and says nothing until that has answered.
  const also = failure.code === 'ETIMEDOUT' ? ` ${OWN_KEY}` : '';
  return new CommandError(`${where}: ${sentence(shown(says))}`, {
    mend: `${capital(sentence(mend))}${also}`,
    cause: error,
  });
}

export const noLog = (endpointId: EndpointId): CommandError =>
  misuse(
    `${endpointId} has no log here: nobody has ever used it, or it has another id.`,
    'Copy the id from the API; is BERTH_NATS_URL the broker of that installation?',
  );

function unavailable(error: PlatformError): CommandError {
  const { cause } = error;
  if (cause instanceof BrokerApiError && cause.code === STREAM_NOT_FOUND) {
    return new CommandError(
      'This broker has no logs of endpoints: no router that writes them has been started on it.',
      {
        mend: `Is ${SETTING} the broker of the installation?`,
        cause: error,
      },
    );
  }
  const why = cause instanceof Error ? cause.message : error.message;
  return new CommandError(`The broker does not answer: ${sentence(shown(why))}`, {
    mend: 'Try again; `berth doctor` says what is wrong with brokers and streams.',
    cause: error,
  });
}

/** The client names the subject that its user may not use, in the error itself or in its cause. */
function forbiddenBy(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  if (error.name === 'PermissionViolationError') return error;
  return error.cause instanceof Error && error.cause.name === 'PermissionViolationError' ? error.cause : null;
}

const shown = (words: string): string => cleanText(words, CAUSE_MAX_CHARACTERS);
const sentence = (words: string): string => (/[.?!]$/.test(words) ? words : `${words}.`);
const capital = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

/** An address, or several with commas between, may carry user and password. */
const withoutSecrets = (url: string): string => url.replaceAll(/\/\/[^/@,]*@/g, '//');
