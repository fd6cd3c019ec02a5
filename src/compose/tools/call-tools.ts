/** Composition root: tools of live calls: messages, the customer's own tools by HTTP and MCP, and calendars. */
import type { Config } from '../../config/config.ts';
import type { NumberOwners } from '../../domain/dialing/number-owner.ts';
import { isPhoneNumber } from '../../domain/dialing/phone-number.ts';
import type { NewId } from '../../domain/ids.ts';
import { takeIncoming } from '../../domain/sms/sms-rules.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Store } from '../../store/store.ts';
import { CalendarServers, LiveCalendars } from '../../tool/calendar/live-calendars.ts';
import { CustomTools } from '../../tool/custom-tools.ts';
import { McpTools } from '../../tool/mcp/mcp-tools.ts';
import { CallSms } from '../../tool/sms/call-sms.ts';
import { SmppGateways } from '../../tool/sms/smpp/smpp-gateways.ts';
import type { AppParts } from '../app-parts.ts';
import { recordingSecretOf } from '../data-folder.ts';
import { urlRulesOf } from '../webhooks.ts';

/** Makes `send_sms` of live calls; it shares the client of custom tools. */
export function openCallSms(
  from: Pick<AppParts, 'config' | 'log' | 'store' | 'telephony'> & {
    readonly newId: NewId;
    readonly customTools: CustomTools;
    readonly numberOwners: NumberOwners;
  },
): CallSms {
  const { config, customTools, log, newId, numberOwners, store, telephony } = from;
  const rules = urlRulesOf(config);
  let secret: Promise<string> | undefined;
  return new CallSms({
    stores: store,
    numberOwners,
    rules,
    smpp: new SmppGateways({
      stores: store,
      rules,
      lookup: async () => {
        const { guardedLookup, nameResolver } = await import('../../webhook/ssrf-guard.ts');
        return guardedLookup('https:', { rules, resolve: nameResolver() });
      },
      clock: systemClock,
      log,
    }),
    client: () => customTools.openClient(),
    sendText: (message) => telephony.sendText(message),
    keysOf: (scope) => customTools.keysOf(scope),
    publicUrl: config.PUBLIC_URL.replace(/\/$/, ''),
    callbackSecret: () => {
      // A read that failed is not kept.
      secret ??= recordingSecretOf(store).catch((error: unknown) => {
        secret = undefined;
        throw error;
      });
      return secret;
    },
    newId,
    clock: systemClock,
  });
}

/** Takes the text messages of carriers: an opt-out word counts for the accounts that send from the called number. */
export function takeTexts({ store, telephony }: Pick<AppParts, 'store' | 'telephony'>): void {
  telephony.onText(async ({ from, text, to }) => {
    if (!isPhoneNumber(from)) return;
    const gateways = await store.smsGateways.ofKind('sip');
    for (const gateway of gateways.filter((one) => one.from === to)) {
      await takeIncoming({ from, text }, gateway, { ...store, now: systemClock.now() });
    }
  });
}

/** Customers' own tools: custom tools, and those of their MCP servers. */
export interface CustomerTools {
  readonly customTools: CustomTools;
  readonly mcpTools: McpTools;
  /** Begins to read the tools of MCP servers; calls do not wait for it. Call it once. */
  start(): void;
  /** Ends requests in progress. Safe to call twice. */
  stop(): Promise<void>;
}

/** Opens customers' own tools; connects nothing before `start` or the first use of a tool. */
export function openCustomerTools(from: {
  readonly config: Pick<Config, 'WEBHOOK_ALLOW_LOCAL' | 'WEBHOOK_ALLOW_PRIVATE'>;
  readonly store: Pick<Store, 'customTools' | 'mcpServers' | 'accounts'>;
  readonly version: string;
  readonly newId: NewId;
  readonly log: Logger;
}): CustomerTools {
  const { config, log, newId, store, version } = from;
  const rules = urlRulesOf(config);
  const shared = { rules, version, clock: systemClock };
  const { accounts, customTools: tools, mcpServers: servers } = store;
  const customTools = new CustomTools({ ...shared, tools, accounts, newId });
  const mcpTools = new McpTools({ ...shared, servers, log });
  return {
    customTools,
    mcpTools,
    start: () => void mcpTools.start(),
    stop: async () => {
      await Promise.all([customTools.stop(), mcpTools.stop()]);
    },
  };
}

/** Makes the appointment tools of live calls. */
export function openLiveCalendars(
  from: Pick<AppParts, 'config' | 'store' | 'log' | 'version'> & { readonly newId: NewId },
): LiveCalendars {
  const { config, log, newId, store, version } = from;
  const rules = urlRulesOf(config);
  return new LiveCalendars({
    calendars: store.calendars,
    appointments: store.appointments,
    transaction: store.transaction,
    servers: new CalendarServers({ rules, version }),
    newId,
    clock: systemClock,
    log,
  });
}
