/** Tells in plain English why a receiver could not be reached; pure */
import { type Answer, networkAnswer, refusedAnswer } from './answer.ts';

/** An address that webhooks are not sent to. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens at its port',
  ECONNRESET: 'the receiver broke the connection off',
  EPIPE: 'the receiver broke the connection off',
  UND_ERR_SOCKET: 'the receiver closed the connection before it answered',
  ENOTFOUND: 'its name is not known',
  ENODATA: 'its name has no address',
  EAI_AGAIN: 'its name could not be looked up',
  ETIMEOUT: 'its name could not be looked up in time',
  ESERVFAIL: 'its name could not be looked up',
  EHOSTUNREACH: 'there is no way to its host',
  ENETUNREACH: 'there is no way to its network',
  ETIMEDOUT: 'its host did not answer',
  UND_ERR_CONNECT_TIMEOUT: 'its host did not answer',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes without those that vouch for it',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** The answer that an error of the connection stands for. */
export function answerOfError(error: Error): Answer {
  const causes = causesOf(error);
  const refused = causes.find((cause) => cause instanceof AddressRefusedError);
  if (refused !== undefined) return refusedAnswer(refused.message);
  const codes = causes.map(codeOf).filter((code) => code !== '');
  const known = codes.find((code) => code in REASONS);
  if (known !== undefined) return networkAnswer(`${REASONS[known]} (${known})`);
  if (codes.some((code) => code.startsWith('HPE_'))) {
    return networkAnswer(`the answer is not HTTP (${codes[0]})`);
  }
  return networkAnswer(`the connection failed (${codes[0] ?? error.name})`);
}

const CAUSES_MAX = 8;

/** The error, its causes, and the errors that it stands for; causes first, as their codes say more than those of wrappers. */
function causesOf(error: Error): readonly Error[] {
  const found: Error[] = [];
  const visit = (one: unknown) => {
    if (!(one instanceof Error) || found.length >= CAUSES_MAX || found.includes(one)) return;
    found.unshift(one);
    visit(one.cause);
    if (one instanceof AggregateError) for (const part of one.errors) visit(part);
  };
  visit(error);
  return found;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
