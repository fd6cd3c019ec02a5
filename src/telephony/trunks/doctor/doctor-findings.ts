/** What the trunk doctor concludes from a carrier's answers; pure */
import type { TrunkCheckStep } from '../../../domain/dialing/trunk.ts';
import { CODEC_NAMES, codecOf } from '../../../rtp/codecs.ts';
import { parseSdp, SdpError } from '../../../rtp/sdp.ts';
import { domainOf, hostPortOf, type Trunk } from '../trunks.ts';
import type { DoctorReply, ProxyCertificate } from './doctor-client.ts';

/** Digest nonces and certificates live for minutes; a clock that is farther off breaks them. */
const CLOCK_OFF_MS_MAX = 60_000;

/** A certificate of 90 days is renewed 30 days before it expires. */
const EXPIRES_SOON_MS = 7 * 86_400_000;

/** Whether the proxy's certificate is one that calls go out to. */
export function certificateStep(
  { proxy }: Trunk,
  { problem, expiresAt }: ProxyCertificate,
  now: Date,
): TrunkCheckStep {
  const { host } = proxy;
  if (problem !== undefined) {
    return step('certificate', false, `TLS with "${host}" is impossible: ${problem}`);
  }
  const until = expiresAt === undefined ? '' : `, until ${expiresAt.toISOString().slice(0, 10)}`;
  const leftMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : +expiresAt - +now;
  if (leftMs > EXPIRES_SOON_MS) {
    return step('certificate', true, `the certificate of "${host}" is good${until}`);
  }
  const remedy = 'calls will fail then; ask the carrier to renew it';
  return step('certificate', false, `the certificate of "${host}" expires soon${until}: ${remedy}`);
}

/** Whether the proxy answers OPTIONS. Any answer but 408 and 503 shows that it is alive. */
export function optionsStep({ proxy }: Trunk, reply: DoctorReply | undefined): TrunkCheckStep {
  const place = hostPortOf(proxy);
  if (reply === undefined) {
    return step(
      'options',
      false,
      `${place} does not answer OPTIONS: it is down, a firewall drops SIP on the way, or it answers known addresses alone; where the carrier ignores OPTIONS, set optionsIntervalSeconds to 0`,
    );
  }
  const { status } = reply;
  if (status !== 408 && status !== 503) {
    return step('options', true, `${place} answers OPTIONS with ${status}, so it is there`);
  }
  return step(
    'options',
    false,
    `${place} answers OPTIONS with ${status}, or cannot be sent to: it takes no calls now; ask the carrier, or try another proxy of theirs`,
  );
}

/** Whether the carrier takes user name and password. */
export function registrationStep(trunk: Trunk, reply: DoctorReply | undefined): TrunkCheckStep {
  const problem = registrationProblem(trunk, reply);
  if (problem !== undefined) return step('registration', false, problem);
  const count = reply?.bindings ?? 0;
  const registered = count === 1 ? '1 address is registered' : `${count} addresses are registered`;
  return step(
    'registration',
    true,
    `the carrier takes the user name and the password; ${registered}`,
  );
}

function registrationProblem(trunk: Trunk, reply: DoctorReply | undefined): string | undefined {
  const who = `user "${trunk.username}" at ${domainOf(trunk)}`;
  if (reply === undefined) {
    return 'the carrier does not answer REGISTER: check proxy and transport, and whether this account registers at all';
  }
  const { status, realm } = reply;
  if (status >= 200 && status < 300) return undefined;
  switch (status) {
    case 401:
    case 407:
      return trunk.realm !== undefined && realm !== undefined && realm !== trunk.realm
        ? `the carrier asks for a password of realm "${realm}", and the trunk has one for "${trunk.realm}": set realm to it, or leave realm out`
        : `the carrier refuses the password of ${who} (${status}): check username and password`;
    case 403:
      return `the carrier forbids ${who} (403): check username and password, and whether the account is locked or bound to another address`;
    case 404:
      return `the carrier does not know ${who} (404): check username and domain`;
    default:
      return `the carrier answers REGISTER with ${status}: ask it why, and check domain and username`;
  }
}

/** Whether the carrier sees the address that we write into SIP and SDP. */
export function addressStep({ advertised, seen }: DoctorReply): TrunkCheckStep {
  if (seen === undefined) {
    return step('address', true, 'the carrier does not say at which address it sees this server');
  }
  if (seen === advertised) {
    return step('address', true, `the carrier sees this server at ${seen}, as it is told`);
  }
  return step(
    'address',
    false,
    `the carrier sees this server at ${seen}, but is told ${advertised}: set PUBLIC_ADDRESS, or the trunk's advertisedAddress, to ${seen}, and forward the ports of SIP and RTP`,
  );
}

/** Whether trunk and carrier have a codec in common, where the answer to OPTIONS tells. */
export function codecsStep({ codecs }: Trunk, sdp: string | undefined): TrunkCheckStep {
  const ours = codecs.join(' and ');
  if (sdp === undefined) {
    const message = `the carrier does not tell its codecs before a call; the trunk offers ${ours}`;
    return step('codecs', true, message);
  }
  const theirs = codecNames(sdp);
  if (theirs === undefined) {
    return step('codecs', false, 'the carrier tells codecs in a form that cannot be read');
  }
  const common = theirs.filter((name) => codecs.some((codec) => codec === name));
  if (common.length > 0) {
    return step('codecs', true, `both sides have ${common.join(' and ')}`);
  }
  return step(
    'codecs',
    false,
    `no common codec: the carrier has ${theirs.join(', ') || 'none'}, the trunk ${ours}; ${codecRemedy(theirs)}`,
  );
}

function codecRemedy(theirs: readonly string[]): string {
  const addable = theirs.filter((name) => CODEC_NAMES.some((ours) => ours === name));
  return addable.length === 0
    ? "allow PCMA or PCMU on the carrier's side, and in codecs"
    : `add ${addable.join(' or ')} to the trunk's codecs, or allow the trunk's on the carrier's side`;
}

function codecNames(sdp: string): readonly string[] | undefined {
  try {
    return [...new Set(parseSdp(sdp).codecs.map((codec) => codecOf(codec) ?? codec.name))];
  } catch (error) {
    if (error instanceof SdpError) return undefined;
    throw error;
  }
}

/** Whether the carrier's clock agrees with ours. */
export function clockStep(theirs: Date | undefined, ours: Date): TrunkCheckStep {
  if (theirs === undefined) return step('clock', true, 'the carrier does not tell its time');
  const offMs = ours.getTime() - theirs.getTime();
  if (Math.abs(offMs) <= CLOCK_OFF_MS_MAX) {
    return step('clock', true, "this machine's clock and the carrier's agree");
  }
  const offSeconds = Math.round(Math.abs(offMs) / 1000);
  const way = offMs > 0 ? 'ahead of' : 'behind';
  return step(
    'clock',
    false,
    `this machine's clock is ${offSeconds} s ${way} the carrier's: set it by NTP (timedatectl set-ntp true)`,
  );
}

function step(name: string, ok: boolean, message: string): TrunkCheckStep {
  return { step: name, ok, message };
}
