/** Telephones that register and call with a password: challenge, check, back-off, and the contacts where they can be reached. */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { withoutQuotedText } from '../call-headers.ts';
import { credentialsFrom, DigestAuthority, SourceBackOff } from './digest-authority.ts';
import { type Phone, sourcesOfPhones } from './phones.ts';

/** Part of a telephone's request that the registrar reads. */
interface PhoneRequest {
  readonly method: string;
  readonly source_address: string;
  get(name: string): string | undefined;
}

/** A response that ends a request. */
export interface PhoneAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The telephone that sent a request, or the response that refuses or challenges it. */
type Admission = { readonly phone: Phone } | { readonly answer: PhoneAnswer };

/** Registrar and authenticator of the telephones of one server. */
export class PhoneRegistrar {
  readonly #phones: ReadonlyMap<string, Phone>;
  readonly #isSource: (sourceAddress: string) => boolean;
  readonly #mayUse: ReadonlyMap<string, (sourceAddress: string) => boolean>;
  readonly #authority: DigestAuthority;
  readonly #backOff: SourceBackOff;
  readonly #bindings: Bindings;
  readonly #log: Logger;

  constructor(options: {
    readonly phones: readonly Phone[];
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    const { phones, clock, log } = options;
    this.#phones = new Map(phones.map((phone) => [phone.name, phone]));
    this.#isSource = sourcesOfPhones(phones);
    this.#mayUse = new Map(phones.map((phone) => [phone.name, sourcesOfPhones([phone])]));
    this.#authority = new DigestAuthority(clock);
    this.#backOff = new SourceBackOff(clock);
    this.#bindings = new Bindings(clock);
    this.#log = log;
  }

  /** Whether a source is answered: some telephone may be there, and it has not guessed passwords just now. */
  serves(sourceAddress: string): boolean {
    return this.#isSource(sourceAddress) && !this.#backOff.isSilenced(sourceAddress);
  }

  /** Whether From has the name of a telephone; proves nothing. */
  isNamedIn(request: Pick<PhoneRequest, 'get'>): boolean {
    return this.#phones.has(userOf(request.get('from') ?? ''));
  }

  /** Contact URIs of a telephone. */
  contactsOf(name: string): readonly string[] {
    return this.#bindings.contactsOf(name);
  }

  /** Response to a REGISTER. RFC 3261, 10.3. */
  register(request: PhoneRequest): PhoneAnswer {
    const admission = this.admit(request);
    if ('answer' in admission) return admission.answer;
    const { name } = admission.phone;
    // A telephone registers itself alone.
    if (userOf(request.get('to') ?? '') !== name) return { status: 403, headers: {} };
    const before = this.#bindings.contactsOf(name).length;
    const answer = this.#bindings.register(name, {
      contact: request.get('contact') ?? '',
      expires: (request.get('expires') ?? '').trim(),
      callId: request.get('call-id') ?? '',
      sequence: Number.parseInt(request.get('cseq') ?? '', 10),
    });
    const contacts = this.#bindings.contactsOf(name).length;
    const change = contacts > before ? 'a telephone registered' : 'a telephone unregistered';
    if (contacts !== before) this.#log.info({ phone: name, contacts }, change);
    return answer;
  }

  /** Finds the telephone whose password a request proves. */
  admit(request: PhoneRequest): Admission {
    const { source_address: sourceAddress } = request;
    const waitMs = this.#backOff.waitMs(sourceAddress);
    if (waitMs > 0) {
      this.#backOff.answered(sourceAddress);
      return refusal(403, { 'Retry-After': String(Math.ceil(waitMs / 1000)) });
    }
    const credentials = credentialsFrom(request.get('authorization') ?? '');
    if (credentials === undefined) return this.#challenge(request, false);
    const phone = this.#phones.get(credentials.username);
    const { password, algorithm = 'MD5' } = phone ?? {};
    // An unknown name costs the same work, so that the response time does not reveal it.
    const facts = { method: request.method, sourceAddress, password: password ?? '', algorithm };
    const verdict = this.#authority.check(credentials, facts);
    if (verdict === 'foreign') return this.#challenge(request, true);
    const isHere = this.#mayUse.get(credentials.username)?.(sourceAddress) === true;
    if (phone === undefined || !isHere || verdict === 'wrong') return this.#fail(request);
    if (verdict === 'stale') return this.#challenge(request, true);
    this.#backOff.succeeded(sourceAddress);
    return { phone };
  }

  #challenge(request: PhoneRequest, isStale: boolean): Admission {
    const { source_address: sourceAddress } = request;
    this.#backOff.answered(sourceAddress);
    const { algorithm = 'MD5' } = this.#phones.get(userOf(request.get('from') ?? '')) ?? {};
    const challenge = this.#authority.challenge({ sourceAddress, algorithm, isStale });
    return refusal(401, { 'WWW-Authenticate': challenge });
  }

  #fail({ source_address: sourceAddress }: PhoneRequest): Admission {
    this.#backOff.failed(sourceAddress);
    this.#log.warn({ sourceAddress }, 'a telephone gave a wrong name or password');
    return refusal(403, {});
  }
}

function refusal(status: number, headers: Readonly<Record<string, string>>): Admission {
  return { answer: { status, headers } };
}

/** User part of the address in From or To; empty without one. */
function userOf(header: string): string {
  return /sips?:([^@;:>\s]+)@/i.exec(withoutQuotedText(header))?.[1] ?? '';
}

/** Limits of a registration. */
const REGISTRATION_SECONDS = { min: 60, max: 3600, default: 300 } as const;

/** Devices of one name. */
const CONTACTS_MAX = 5;

const CONTACT_CHARS_MAX = 512;

interface Binding {
  readonly callId: string;
  readonly sequence: number;
  readonly expiresAtMs: number;
}

/** A REGISTER as it came. */
interface Registration {
  /** Value of Contact; empty in a query. */
  readonly contact: string;
  /** Value of Expires; empty without one. */
  readonly expires: string;
  readonly callId: string;
  readonly sequence: number;
}

/** Final response to a REGISTER: its status and headers. */
interface RegistrationAnswer {
  readonly status: 200 | 400 | 403 | 423 | 500;
  readonly headers: Readonly<Record<string, string>>;
}

/** Contacts of all telephones, by name and URI. */
export class Bindings {
  readonly #clock: Clock;
  readonly #ofPhone = new Map<string, Map<string, Binding>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Contact URIs of a telephone that are in effect. */
  contactsOf(phone: string): readonly string[] {
    return [...this.#live(phone).keys()];
  }

  /** Adds, refreshes or removes contacts: all that the request names, or none. */
  register(phone: string, request: Registration): RegistrationAnswer {
    const bindings = this.#live(phone);
    const asked = readContacts(request);
    if (asked === undefined) return { status: 400, headers: {} };
    const isOld = [...bindings.values()].some(
      ({ callId, sequence }) => callId === request.callId && sequence >= request.sequence,
    );
    if (isOld && asked.length > 0) return { status: 500, headers: {} };
    const after = new Map(bindings);
    for (const { uri, seconds } of asked) {
      if (uri === '*') after.clear();
      else if (seconds === 0) after.delete(uri);
      else if (seconds < REGISTRATION_SECONDS.min) {
        return { status: 423, headers: { 'Min-Expires': String(REGISTRATION_SECONDS.min) } };
      } else {
        const ms = Math.min(seconds, REGISTRATION_SECONDS.max) * 1000;
        const { callId, sequence } = request;
        after.set(uri, { callId, sequence, expiresAtMs: this.#clock.nowMs() + ms });
      }
    }
    if (after.size > CONTACTS_MAX) return { status: 403, headers: {} };
    this.#ofPhone.set(phone, after);
    return { status: 200, headers: this.#headersOf(after) };
  }

  #live(phone: string): Map<string, Binding> {
    const nowMs = this.#clock.nowMs();
    const all = this.#ofPhone.get(phone) ?? new Map<string, Binding>();
    return new Map([...all].filter(([, { expiresAtMs }]) => expiresAtMs > nowMs));
  }

  #headersOf(bindings: ReadonlyMap<string, Binding>): Readonly<Record<string, string>> {
    if (bindings.size === 0) return {};
    const nowMs = this.#clock.nowMs();
    const contacts = [...bindings].map(
      ([uri, { expiresAtMs }]) => `<${uri}>;expires=${Math.ceil((expiresAtMs - nowMs) / 1000)}`,
    );
    return { Contact: contacts.join(', ') };
  }
}

/** @returns undefined where they are malformed. */
function readContacts({ contact, expires }: Registration) {
  if (expires !== '' && !/^\d{1,10}$/.test(expires)) return undefined;
  const usual = expires === '' ? REGISTRATION_SECONDS.default : Number(expires);
  if (contact === '') return [];
  if (contact.trim() === '*') return expires === '0' ? [{ uri: '*', seconds: 0 }] : undefined;
  if (contact.length > CONTACT_CHARS_MAX) return undefined;
  const items = withoutQuotedText(contact).match(/(?:<[^<>]*>|[^,<>])+/g) ?? [];
  const read = items.map((item) => {
    const [, bracketed, bare] =
      /<\s*(sips?:[^<>\s"]+)\s*>|^\s*(sips?:[^<>\s";,]+)/i.exec(item) ?? [];
    const own = /;\s*expires\s*=\s*"?(\d{1,10})\b/i.exec(item.slice(item.lastIndexOf('>') + 1));
    return { uri: bracketed ?? bare ?? '', seconds: own === null ? usual : Number(own[1]) };
  });
  return read.some(({ uri }) => uri === '') ? undefined : read;
}
