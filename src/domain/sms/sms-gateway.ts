/** SMS gateways: where the messages of an account's agents go out; their rules, and the contract of their store. */
import type { Environment } from '../account/account.ts';
import type { Agent, Scope } from '../agent/agent.ts';
import type { NumberOwners } from '../dialing/number-owner.ts';
import { isPhoneNumber } from '../dialing/phone-number.ts';
import { emptyPatch, given, laterThan, type Unset } from '../ids.ts';
import type { NamedStore } from '../named-store.ts';
import { bodyFault } from '../service-error.ts';
import {
  checkToolUrl,
  headerNameFault,
  headerValueFault,
  placesOf,
  requireSecretAgain,
} from '../tool/tool-request.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../webhook/webhook-url.ts';
import {
  type HttpTemplate,
  PRESETS,
  requestOf,
  type SmsPreset,
  unknownPlaces,
} from './http-template.ts';

/** How a gateway takes messages: over HTTP, over SMPP, or by SIP MESSAGE over the trunk with the number that they are from. */
export const SMS_GATEWAY_KINDS = ['http', 'smpp', 'sip'] as const;

/** One of `SMS_GATEWAY_KINDS`. */
export type SmsGatewayKind = (typeof SMS_GATEWAY_KINDS)[number];

/** A gateway that messages go out through. */
export interface SmsGateway {
  /** `smsgw_…`; a part of the address that its reports come to. */
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  /** Unique in the account and environment. */
  readonly name: string;
  readonly kind: SmsGatewayKind;
  /** The format of HTTP; null for the other kinds. */
  readonly preset: SmsPreset | null;
  /** The sender: E.164, or but for SIP a name of up to 11 letters and digits. */
  readonly from: string;
  /** User name, such as Twilio's Account SID; null where the gateway takes none. */
  readonly username: string | null;
  /** Never shown. */
  readonly secret: string | null;
  /** URL of requests, or of the SMPP server; null for the preset's own address, and for SIP. */
  readonly url: string | null;
  /** Template of the request; null for the preset's own. */
  readonly template: HttpTemplate | null;
  /** `https` URLs that messages may lead to, or below. */
  readonly allowedLinks: readonly string[];
  /** Maximum number of messages of the account and environment on a UTC day. */
  readonly dailyMax: number;
  readonly timeoutMs: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Limits of the fields of a gateway: lengths in characters, counts, durations in milliseconds. */
export const SMS_GATEWAY_LIMITS = {
  gatewaysMax: 20,
  usernameCharsMax: 200,
  secretCharsMax: 500,
  templateFieldsMax: 30,
  templateNameCharsMax: 100,
  templateValueCharsMax: 1000,
  allowedLinksMax: 20,
  linkCharsMax: 500,
  dailyMax: { min: 1, max: 100_000 },
  timeoutMs: { min: 500, max: 20_000 },
} as const;

/** Names of gateways. */
export const SMS_GATEWAY_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;

/** Names as senders. @see 3GPP TS 23.040, 9.1.2.5 */
const SENDER_NAME = /^[A-Za-z0-9 ]{1,11}$/;

const DAILY_MAX_DEFAULT = 200;

const TIMEOUT_MS_DEFAULT = 8000;

/** Keeps gateways. */
export interface SmsGatewayStore extends NamedStore<SmsGateway> {
  /** Finds a gateway of any account: for a callback whose signature has been checked. */
  findById(id: string): Promise<SmsGateway | undefined>;

  /** Lists the gateways of a kind, of every account. */
  ofKind(kind: SmsGatewayKind): Promise<readonly SmsGateway[]>;
}

type Optional = Unset<
  Pick<SmsGateway, 'username' | 'url' | 'template' | 'allowedLinks' | 'dailyMax' | 'timeoutMs'>
> & {
  /** Null leaves the one that the gateway has. */
  readonly secret?: string | null | undefined;
};

/** A gateway as customers describe it, of the right types and lengths. */
export type SmsGatewayDraft = Pick<SmsGateway, 'name' | 'from'> &
  Unset<Pick<SmsGateway, 'kind' | 'preset'>> &
  Optional;

/** A change: only the fields that are there. */
export type SmsGatewayPatch = Unset<Pick<SmsGateway, 'from'>> & Optional;

interface Facts {
  readonly now: Date;
  readonly urlRules: WebhookUrlRules;
}

/**
 * Makes a gateway.
 *
 * @throws {ServiceError} VALIDATION_ERROR when sender, credentials, URL, template or links are wrong; UNPROCESSABLE when its
 *   host is refused.
 */
export function createSmsGateway(
  draft: SmsGatewayDraft,
  { id, scope, ...facts }: Facts & { readonly id: string; readonly scope: Scope },
): SmsGateway {
  const gateway: SmsGateway = {
    id,
    accountId: scope.accountId,
    environment: scope.environment,
    kind: draft.kind ?? 'http',
    name: draft.name,
    preset: draft.preset ?? null,
    from: draft.from,
    username: draft.username ?? null,
    secret: draft.secret ?? null,
    url: draft.url ?? null,
    template: draft.template ?? null,
    allowedLinks: draft.allowedLinks ?? [],
    dailyMax: draft.dailyMax ?? DAILY_MAX_DEFAULT,
    timeoutMs: draft.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    createdAt: facts.now,
    updatedAt: facts.now,
  };
  checkGateway(gateway, facts.urlRules);
  return gateway;
}

/**
 * Changes the fields that the patch has. The secret is kept, unless the URL leads to another server.
 *
 * @throws {ServiceError} as `createSmsGateway`, and VALIDATION_ERROR when the patch is empty.
 */
export function patchSmsGateway(
  gateway: SmsGateway,
  patch: SmsGatewayPatch,
  { now, urlRules }: Facts,
): SmsGateway {
  const { secret, ...changes } = given(patch);
  if (Object.keys(patch).length === 0) throw emptyPatch('the SMS gateway');
  const patched = {
    ...gateway,
    ...changes,
    secret: secret ?? gateway.secret,
    updatedAt: laterThan(gateway.updatedAt, now),
  };
  checkGateway(patched, urlRules);
  if (gateway.secret !== null && typeof secret !== 'string') {
    requireSecretAgain('secret', { before: addressOf(gateway), after: addressOf(patched) });
  }
  return patched;
}

function addressOf(gateway: SmsGateway): string | null {
  return httpOf(gateway)?.url ?? gateway.url;
}

/** How messages go out over HTTP; undefined for a gateway of another kind. */
export function httpOf({ preset, template, url }: SmsGateway): HttpWay | undefined {
  if (preset === null) return undefined;
  const known = PRESETS[preset];
  return { preset, url: url ?? known.url ?? '', template: template ?? known };
}

/** Format, address and request of a gateway over HTTP. */
export interface HttpWay {
  readonly preset: SmsPreset;
  /** With the place `{username}` at most. */
  readonly url: string;
  readonly template: HttpTemplate;
}

/**
 * The gateway of an agent: the one that it names, or the only one that there is.
 *
 * @returns undefined where there is none, or several and the agent names none.
 */
export async function gatewayOf(
  agent: Pick<Agent, 'accountId' | 'environment' | 'smsGateway'>,
  gateways: Pick<SmsGatewayStore, 'find' | 'list'>,
): Promise<SmsGateway | undefined> {
  if (agent.smsGateway !== null) return gateways.find(agent, agent.smsGateway);
  const { items: found } = await gateways.list(agent, { limit: 2, offset: 0 });
  return found.length === 1 ? found[0] : undefined;
}

/** Whether the account may send from the gateway's number: another one may own the number by now. */
export async function isSenderOwn(
  { accountId, from, kind }: SmsGateway,
  owners: Pick<NumberOwners, 'mayUse'>,
): Promise<boolean> {
  return kind !== 'sip' || (await owners.mayUse(accountId, from));
}

/** @throws {ServiceError} VALIDATION_ERROR when there is no gateway of that name. */
export async function requireKnownGateway(
  { smsGateway }: Pick<Agent, 'smsGateway'>,
  scope: Scope,
  gateways: Pick<SmsGatewayStore, 'find'>,
): Promise<void> {
  if (smsGateway === null || (await gateways.find(scope, smsGateway)) !== undefined) return;
  throw bodyFault('smsGateway', `"${smsGateway}" is no gateway of GET /api/sms-gateways`);
}

function checkGateway(gateway: SmsGateway, urlRules: WebhookUrlRules): void {
  if (gateway.kind === 'sip') checkSip(gateway);
  else if (gateway.kind === 'smpp') checkSmpp(gateway, urlRules);
  else checkHttp(gateway, urlRules);
  for (const [index, link] of gateway.allowedLinks.entries()) {
    checkLink(link, `allowedLinks.${index}`);
  }
}

function checkSip(gateway: SmsGateway): void {
  if (!isPhoneNumber(gateway.from)) {
    throw bodyFault('from', 'expected a number in E.164 form that a trunk has');
  }
  for (const field of ['preset', 'username', 'secret', 'url', 'template'] as const) {
    if (gateway[field] !== null) throw bodyFault(field, 'a gateway of kind "sip" takes none');
  }
}

/** System id or password as a NUL-terminated text of SMPP. */
const SMPP_WORD = /^[\x21-\x7e]{1,64}$/;

function checkSmpp(gateway: SmsGateway, urlRules: WebhookUrlRules): void {
  const { secret, url, username } = gateway;
  checkSender(gateway);
  for (const field of ['preset', 'template'] as const) {
    if (gateway[field] !== null) throw bodyFault(field, 'a gateway of kind "smpp" takes none');
  }
  if (username === null || !SMPP_WORD.test(username))
    throw bodyFault('username', 'expected a system id');
  if (secret === null || !SMPP_WORD.test(secret)) throw bodyFault('secret', 'expected a password');
  const place = /^smpps?:(\/\/[^/?#@]+:\d{1,5})$/.exec(url ?? '')?.[1];
  if (place === undefined) throw bodyFault('url', 'expected smpp://host:port or smpps://host:port');
  checkWebhookUrl(`https:${place}`, urlRules);
}

function checkSender({ from }: SmsGateway): void {
  if (isPhoneNumber(from) || SENDER_NAME.test(from)) return;
  throw bodyFault(
    'from',
    'expected a number in E.164 form, or a name of up to 11 letters and digits',
  );
}

function checkHttp(gateway: SmsGateway, urlRules: WebhookUrlRules): void {
  const { preset, template, url } = gateway;
  const way = httpOf(gateway);
  if (way === undefined || preset === null) {
    throw bodyFault('preset', `expected one of ${Object.keys(PRESETS).join(', ')}`);
  }
  checkSender(gateway);
  for (const need of PRESETS[preset].needs) {
    if (gateway[need] === null) throw bodyFault(need, `expected it for the preset "${preset}"`);
  }
  if (template !== null && preset !== 'webhook') {
    throw bodyFault('template', 'only the preset "webhook" takes a template');
  }
  if (url === null && PRESETS[preset].url === null) {
    throw bodyFault('url', `expected it for the preset "${preset}"`);
  }
  const [unknown] = placesOf(way.url).filter((place) => place !== 'username');
  if (unknown !== undefined) throw bodyFault('url', `{${unknown}} is no place of a url`);
  checkToolUrl(way.url, urlRules);
  if (template !== null) checkTemplate(template);
  checkHeaders(gateway, way);
}

/** A line break that was copied with a secret would fail every request. */
function checkHeaders({ secret, username }: SmsGateway, { template, url }: HttpWay): void {
  const credentials = { secret: secret ?? '', username: username ?? '' };
  const facts = { ...credentials, id: 'id', to: '', from: '', text: '', statusUrl: '' };
  for (const [name, value] of Object.entries(requestOf(url, template, facts).headers)) {
    const fault = headerValueFault(value);
    if (fault !== undefined) throw bodyFault('secret', `${fault} in the header "${name}"`);
  }
}

function checkTemplate({ headers, body }: HttpTemplate): void {
  for (const [name, value] of Object.entries(headers)) {
    // The text, the number and the name of a sender are not ASCII alone.
    const isOpen = /\{(?!secret\}|username\}|basic\}|id\})/.test(value);
    const fault = isOpen ? 'expected places of credentials and {id} only' : headerNameFault(name);
    if (fault !== undefined) throw bodyFault(`template.headers.${name.slice(0, 40)}`, fault);
  }
  const [unknown] = unknownPlaces([...Object.values(headers), ...Object.values(body)]);
  if (unknown !== undefined) throw bodyFault('template', `{${unknown.slice(0, 40)}} is no place`);
  const values = Object.values(body).join(' ');
  const lacksTo = !values.includes('{to}') && !values.includes('{toDigits}');
  if (lacksTo || !values.includes('{text}')) {
    throw bodyFault('template.body', 'expected the places {to} or {toDigits}, and {text}');
  }
}

function checkLink(link: string, path: string): void {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  const isPlain = url?.protocol === 'https:' && url.search === '' && url.hash === '';
  if (!isPlain || url.username !== '' || url.password !== '') {
    throw bodyFault(
      path,
      'expected an https URL without query, such as https://shop.example.com/pay',
    );
  }
}
