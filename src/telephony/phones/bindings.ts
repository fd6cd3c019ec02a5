/** Where registered telephones can be reached: contacts with their expiry. RFC 3261, 10.3. */
import type { Clock } from '../../lib/clock.ts';
import { withoutQuotedText } from '../far-end-headers.ts';

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
export interface Registration {
  /** Value of Contact; empty in a query. */
  readonly contact: string;
  /** Value of Expires; empty without one. */
  readonly expires: string;
  readonly callId: string;
  readonly sequence: number;
}

/** Final response to a REGISTER: its status and headers. */
export interface RegistrationAnswer {
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
