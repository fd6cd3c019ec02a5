/** Why an MCP server cannot be used, in our own words: what it answered may hold anything; pure */
import { ServiceError } from '../../domain/service-error.ts';
import { answerOfError } from '../../webhook/answer.ts';

/** Causes of causes that are looked at. */
const DEPTH_MAX = 5;

/** Errors of the network and of its library. */
const NETWORK_CODE = /^(?:E[A-Z]+|UND_ERR_\w+|\w*CERT\w*|ERR_TLS\w*)$/;

/** A sentence for the operator. */
export function problemOf(error: unknown): string {
  const causes = causesOf(error);
  const ours = causes.find((cause) => cause instanceof ServiceError);
  if (ours !== undefined) return ours.message;
  const network = causes.findLast((cause) => NETWORK_CODE.test(codeOf(cause)));
  if (network !== undefined) return answerOfError(network).error ?? 'it could not be reached';
  if (causes.some((cause) => codeOf(cause) === 'REQUEST_TIMEOUT')) {
    return 'the server does not answer in time';
  }
  const status = causes.map(statusOf).find((one) => one !== undefined);
  if (status !== undefined) return `the server answered ${status}`;
  const code = codeOf(causes[0]);
  return `the server does not speak MCP by streamable HTTP${code === '' ? '' : ` (${code})`}`;
}

function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (
    let cause = error;
    cause instanceof Error && causes.length < DEPTH_MAX;
    cause = cause.cause
  ) {
    causes.push(cause);
  }
  return causes;
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : '';
}

/** HTTP status other than success. */
function statusOf(error: Error): number | undefined {
  const { status, data } = error as { readonly status?: unknown; readonly data?: unknown };
  const found = [status, Object(data).status].find(
    (one) => typeof one === 'number' && one >= 300 && one <= 599,
  );
  return typeof found === 'number' ? found : undefined;
}
