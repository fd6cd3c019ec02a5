/** Carriers and telephone systems that a trunk can begin as: the files of `sip-config/presets`; pure */

import threeCx from '../../../sip-config/presets/3cx.json' with { type: 'json' };
import asterisk from '../../../sip-config/presets/freepbx-asterisk.json' with { type: 'json' };
import plainIp from '../../../sip-config/presets/plain-ip.json' with { type: 'json' };
import sipgate from '../../../sip-config/presets/sipgate.json' with { type: 'json' };
import telnyx from '../../../sip-config/presets/telnyx.json' with { type: 'json' };
import twilio from '../../../sip-config/presets/twilio.json' with { type: 'json' };
import voipMs from '../../../sip-config/presets/voip-ms.json' with { type: 'json' };
import vonage from '../../../sip-config/presets/vonage.json' with { type: 'json' };
import { NEW_TRUNK, type TrunkDraft, type TrunkFieldName } from './trunk-draft.ts';

/** A file of `sip-config/presets`. */
interface PresetFile {
  readonly name: string;
  readonly proxy: string;
  readonly domain?: string;
  readonly username?: string;
  readonly register?: boolean;
  readonly codecs: readonly string[];
  readonly transfer?: string;
  readonly allowedSources: readonly string[];
  readonly callsPerSecond?: number;
}

interface Preset {
  /** As its maker writes it. */
  readonly title: string;
  readonly file: PresetFile;
}

/** In the order of the manual. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  twilio: { title: 'Twilio', file: twilio },
  telnyx: { title: 'Telnyx', file: telnyx },
  vonage: { title: 'Vonage', file: vonage },
  sipgate: { title: 'sipgate', file: sipgate },
  'voip-ms': { title: 'VoIP.ms', file: voipMs },
  'freepbx-asterisk': { title: 'FreePBX, Asterisk', file: asterisk },
  '3cx': { title: '3CX', file: threeCx },
  'plain-ip': { title: 'Plain IP', file: plainIp },
};

/** Addresses and names that stand for the reader's own: example networks, and those of a home. */
const EXAMPLE = /^(198\.51\.100\.|203\.0\.113\.|192\.168\.|YOUR-)/;

/** What a trunk of the carrier begins with: what is the same for every customer. */
export function draftOfPreset(preset: string): TrunkDraft {
  const file = PRESETS[preset]?.file;
  if (file === undefined) return NEW_TRUNK;
  const { name, proxy, codecs, register, transfer, callsPerSecond } = file;
  return {
    ...NEW_TRUNK,
    name,
    proxy: EXAMPLE.test(proxy) ? '' : proxy,
    register: String(register ?? false),
    codecs: codecs.join('\n'),
    allowedSources: file.allowedSources.filter((source) => !EXAMPLE.test(source)).join('\n'),
    transfer: transfer ?? NEW_TRUNK.transfer,
    callsPerSecond: callsPerSecond === undefined ? '' : String(callsPerSecond),
  };
}

/** Fields that only the customer knows, of those that say how the carrier is reached. An unknown preset has all of them. */
export function neededFields(preset: string): readonly TrunkFieldName[] {
  const file = PRESETS[preset]?.file;
  if (file === undefined) {
    return ['proxy', 'transport', 'register', 'username', 'password', 'allowedSources'];
  }
  const { proxy, domain, username, allowedSources } = file;
  const parts: readonly (readonly [boolean, readonly TrunkFieldName[]])[] = [
    [EXAMPLE.test(proxy), ['proxy']],
    [domain !== undefined, ['domain']],
    [username !== undefined, ['username', 'password']],
    [allowedSources.some((source) => EXAMPLE.test(source)), ['allowedSources']],
  ];
  return parts.flatMap(([isNeeded, fields]) => (isNeeded ? fields : []));
}

/** Name of the preset whose carrier is reached at the address; empty where none is. */
export function presetAt(proxy: string): string {
  const found = Object.entries(PRESETS).find(([, { file }]) => {
    const shared = file.proxy.replace(/^YOUR-TRUNK/, '');
    return !EXAMPLE.test(shared) && proxy.endsWith(shared);
  });
  return found?.[0] ?? '';
}
