/** Trunk doctor: asks a carrier's proxy step by step, concludes from its answers what is wrong, and says what to do. */
import type {
  TrunkCheck,
  TrunkCheckProgress,
  TrunkCheckStep,
  TrunkCheckWatch,
} from '../../domain/dialing/trunk.ts';
import { CODEC_NAMES, codecOf } from '../../rtp/codecs.ts';
import { parseSdp, SdpError } from '../../rtp/sdp.ts';
import { domainOf, hostPortOf, type Trunk } from './trunks.ts';

interface DoctorParts {
  readonly client: DoctorClient;
  /** Our clock. */
  readonly now: () => Date;
  readonly onProgress?: TrunkCheckWatch['onProgress'];
}

/**
 * Checks a trunk: `dns`, `connection`, `certificate` with TLS, `options`, `registration` where it registers, `address`, `codecs`, `clock`. A step
 * that the ones before it make impossible is skipped, and left out of the result.
 */
export async function checkTrunk(
  trunk: Trunk,
  { client, now, onProgress = () => undefined }: DoctorParts,
): Promise<TrunkCheck> {
  const steps = new CheckSteps(stepsOf(trunk), onProgress);
  steps.begin('dns');
  const [place] = await client.locate();
  steps.found(dnsStep(trunk, place));
  if (place === undefined) return steps.end();
  steps.begin('connection');
  const problem = await client.connectProblem(place);
  steps.found(connectionStep(trunk, place, problem));
  if (problem !== undefined) return steps.end();
  if (isOverTls(trunk)) steps.begin('certificate');
  const certificate = await client.certificate(place);
  if (certificate !== undefined) steps.found(certificateStep(trunk, certificate, now()));
  if (certificate?.problem !== undefined) return steps.end();
  steps.begin('options');
  const options = await client.options();
  steps.found(optionsStep(trunk, options));
  if (trunk.register) steps.begin('registration');
  const registration = trunk.register ? await client.bindings() : undefined;
  if (trunk.register) steps.found(registrationStep(trunk, registration));
  const reply = options ?? registration;
  if (reply !== undefined) {
    steps.found(addressStep(reply));
    steps.found(codecsStep(trunk, options?.sdp));
    steps.found(clockStep(reply.date, now()));
  }
  return steps.end();
}

/** The steps of a check, in their order. */
function stepsOf(trunk: Trunk): readonly string[] {
  return [
    ...['dns', 'connection'],
    ...(isOverTls(trunk) ? ['certificate'] : []),
    'options',
    ...(trunk.register ? ['registration'] : []),
    ...['address', 'codecs', 'clock'],
  ];
}

function isOverTls({ proxy }: Trunk): boolean {
  return proxy.transport === 'tls';
}

/** State of each step so far. */
class CheckSteps {
  readonly #onProgress: TrunkCheckWatch['onProgress'];
  readonly #found: TrunkCheckStep[] = [];
  #steps: readonly TrunkCheckProgress[];

  constructor(names: readonly string[], onProgress: TrunkCheckWatch['onProgress']) {
    this.#onProgress = onProgress;
    this.#steps = names.map((step) => ({ step, state: 'waiting', message: null }));
  }

  begin(step: string): void {
    this.#change((known) => (known.step === step ? { ...known, state: 'running' } : known));
  }

  found(finding: TrunkCheckStep): void {
    this.#found.push(finding);
    const { step, ok, message } = finding;
    const state = ok ? 'ok' : 'failed';
    this.#change((known) => (known.step === step ? { step, state, message } : known));
  }

  /** Marks steps without a finding as skipped. */
  end(): TrunkCheck {
    this.#change((known) => (known.message === null ? { ...known, state: 'skipped' } : known));
    return { ok: this.#found.every(({ ok }) => ok), steps: this.#found };
  }

  #change(change: (known: TrunkCheckProgress) => TrunkCheckProgress): void {
    this.#steps = this.#steps.map(change);
    this.#onProgress(this.#steps);
  }
}

function dnsStep({ proxy }: Trunk, place: ProxyPlace | undefined): TrunkCheckStep {
  const { host } = proxy;
  const message =
    place === undefined
      ? `"${host}" has no address: check the spelling of proxy, and whether this machine can resolve names`
      : `"${host}" is at ${place.address}, port ${place.port}`;
  return { step: 'dns', ok: place !== undefined, message };
}

function connectionStep(
  { proxy }: Trunk,
  { address, port }: ProxyPlace,
  problem: string | undefined,
): TrunkCheckStep {
  const place = `${address}, port ${port}`;
  const transport = proxy.transport.toUpperCase();
  const done =
    transport === 'UDP' ? 'UDP needs no connection' : `${transport} connects to ${place}`;
  const message =
    problem === undefined
      ? done
      : `${transport} cannot reach ${hostPortOf(proxy)} at ${place}: ${problem}`;
  return { step: 'connection', ok: problem === undefined, message };
}

/** Digest nonces and certificates live for minutes; a clock that is farther off breaks them. */
const CLOCK_OFF_MS_MAX = 60_000;

/** A certificate of 90 days is renewed 30 days before it expires. */
const EXPIRES_SOON_MS = 7 * 86_400_000;

/** Whether the proxy's certificate is one that calls go out to. */
function certificateStep(
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
function optionsStep({ proxy }: Trunk, reply: DoctorReply | undefined): TrunkCheckStep {
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
function registrationStep(trunk: Trunk, reply: DoctorReply | undefined): TrunkCheckStep {
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
function addressStep({ advertised, seen }: DoctorReply): TrunkCheckStep {
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
function codecsStep({ codecs }: Trunk, sdp: string | undefined): TrunkCheckStep {
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
function clockStep(theirs: Date | undefined, ours: Date): TrunkCheckStep {
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

/** Answer of a carrier. */
export interface DoctorReply {
  readonly status: number;
  /** Realm of its challenge. */
  readonly realm: string | undefined;
  /** Our address in the Via that we sent. */
  readonly advertised: string;
  /** The address that it saw, from `received` and `rport`; undefined where it does not say. RFC 3581. */
  readonly seen: string | undefined;
  /** Its clock, from Date. */
  readonly date: Date | undefined;
  /** Body, where that is a session description. */
  readonly sdp: string | undefined;
  /** Addresses that are registered, in an answer to REGISTER. */
  readonly bindings: number;
}

/** Address and port of a proxy. */
export interface ProxyPlace {
  readonly address: string;
  readonly port: number;
}

/** The certificate of a proxy, as TLS finds it. */
export interface ProxyCertificate {
  /** Why TLS is impossible; undefined where it is not. */
  readonly problem: string | undefined;
  readonly expiresAt: Date | undefined;
}

/** SIP client of one check; every wait of it has a limit. */
export interface DoctorClient {
  /** Places of the trunk's proxy by RFC 3263, the first choice first; empty where its name does not resolve. */
  locate(): Promise<readonly ProxyPlace[]>;

  /** Connects by the trunk's transport. @returns why that is impossible; undefined where it is not. */
  connectProblem(place: ProxyPlace): Promise<string | undefined>;

  /** Looks at the proxy's certificate, which has to have the proxy's name. Undefined where the trunk has no TLS. */
  certificate(place: ProxyPlace): Promise<ProxyCertificate | undefined>;

  /** Sends OPTIONS. @returns undefined without a response. */
  options(): Promise<DoctorReply | undefined>;

  /** Queries the registered contacts by a REGISTER with the trunk's password; changes none of them. RFC 3261, 10.2.3. */
  bindings(): Promise<DoctorReply | undefined>;

  /** Safe to call twice. */
  stop(): Promise<void>;
}
