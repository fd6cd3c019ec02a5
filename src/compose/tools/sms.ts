/** Composition root: messages that agents send during calls. */
import type { NumberOwners } from '../../domain/dialing/number-owner.ts';
import { isPhoneNumber } from '../../domain/dialing/phone-number.ts';
import type { NewId } from '../../domain/ids.ts';
import { takeIncoming } from '../../domain/sms/opt-out.ts';
import { systemClock } from '../../lib/clock.ts';
import type { CustomTools } from '../../tool/custom-tools.ts';
import { CallSms } from '../../tool/sms/call-sms.ts';
import { SmppGateways } from '../../tool/sms/smpp/smpp-gateways.ts';
import { recordingSecretOf } from '../analysis.ts';
import type { AppParts } from '../app-parts.ts';

/** Makes `send_sms` of live calls; it shares the client of custom tools. */
export function openCallSms(
  from: Pick<AppParts, 'config' | 'log' | 'store' | 'telephony'> & {
    readonly newId: NewId;
    readonly customTools: CustomTools;
    readonly numberOwners: NumberOwners;
  },
): CallSms {
  const { config, customTools, log, newId, numberOwners, store, telephony } = from;
  const rules = {
    allowLocal: config.WEBHOOK_ALLOW_LOCAL,
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE,
  };
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
