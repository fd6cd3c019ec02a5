/** Steps of the wizard of a new trunk, with their addresses and errors, a check in progress, and the carriers to begin with; pure */

import threeCx from '../../../sip-config/presets/3cx.json' with { type: 'json' };
import asterisk from '../../../sip-config/presets/freepbx-asterisk.json' with { type: 'json' };
import plainIp from '../../../sip-config/presets/plain-ip.json' with { type: 'json' };
import sipgate from '../../../sip-config/presets/sipgate.json' with { type: 'json' };
import telnyx from '../../../sip-config/presets/telnyx.json' with { type: 'json' };
import twilio from '../../../sip-config/presets/twilio.json' with { type: 'json' };
import voipMs from '../../../sip-config/presets/voip-ms.json' with { type: 'json' };
import vonage from '../../../sip-config/presets/vonage.json' with { type: 'json' };
import type { SseEvent } from '../api-client.ts';
import { ApiError } from '../api-error.ts';
import type { TrunkCheck, TrunkCheckFailure, TrunkCheckProgress } from '../api-types.ts';
import { NEW_ID } from '../router.ts';
import { EDITABLE_FIELDS, NEW_TRUNK, type TrunkDraft, type TrunkFieldName } from './trunk-draft.ts';

export const WIZARD_STEPS = ['carrier', 'access', 'numbers', 'check', 'call'] as const;

export type WizardStep = (typeof WIZARD_STEPS)[number];

/** Name of the trunk that the wizard has saved, in the query of its address. */
export const MADE_TRUNK = 'trunk';

/** Fields of the step `numbers`; all others but the name are of `access`. */
export const NUMBER_FIELDS = ['numbers', 'callerId'] as const satisfies TrunkFieldName[];

/** All fields but the name, the price and those of `numbers`. */
export const ACCESS_FIELDS = EDITABLE_FIELDS.filter(
  (field) => !NUMBER_FIELDS.some((name) => name === field),
);

/** Steps of the trunk doctor that the fields of `access` can mend; addresses and clocks of this machine are set elsewhere. */
const ACCESS_CHECKS = ['dns', 'connection', 'certificate', 'options', 'registration', 'codecs'];

/** The step that an address names, else the first. For a step that needs a saved trunk, the step that saves it. */
export function wizardStepOf(query: URLSearchParams, isSaved: boolean): WizardStep {
  const step = WIZARD_STEPS.find((name) => name === query.get('step')) ?? 'carrier';
  return !isSaved && (step === 'check' || step === 'call') ? 'numbers' : step;
}

/** @param trunk name of the trunk that was saved. */
export function wizardAddress(step: WizardStep, trunk: string | undefined): string {
  const query = new URLSearchParams({ step, ...(trunk !== undefined && { [MADE_TRUNK]: trunk }) });
  return `#/trunks/${NEW_ID}?${query}`;
}

/** The step with the field that a refusal names first; the step that saves where it names none. */
export function stepOfRefusal(error: unknown, isSaved: boolean): WizardStep {
  if (!(error instanceof ApiError)) return 'numbers';
  const [field] = (error.details?.[0]?.path ?? '').split('.');
  if (field === 'name') return 'carrier';
  if (ACCESS_FIELDS.some((name) => name === field)) return 'access';
  // Before there is a trunk, only its name can be in conflict.
  return error.status === 409 && !isSaved ? 'carrier' : 'numbers';
}

/** Faults found by a check that the fields of `access` can mend. */
export function faultsOfAccess(check: TrunkCheck | undefined): TrunkCheck['steps'] {
  return (check?.steps ?? []).filter(({ step, ok }) => !ok && ACCESS_CHECKS.includes(step));
}

type Progress = TrunkCheckProgress['steps'][number];

/** A step as it is shown; `unchecked`: the check ended early, while it was in progress. */
export interface ShownStep extends Omit<Progress, 'state'> {
  readonly state: Progress['state'] | 'unchecked';
}

export interface CheckState {
  readonly steps: readonly Progress[];
  /** The result; undefined until the check is over. */
  readonly check: TrunkCheck | undefined;
  /** Why the server could not go on. */
  readonly failure: ApiError | undefined;
}

export const NOTHING_CHECKED: CheckState = { steps: [], check: undefined, failure: undefined };

/** The state after an event; unknown kinds of events change nothing. */
export function afterCheckEvent(state: CheckState, { event, data }: SseEvent): CheckState {
  switch (event) {
    case 'progress':
      return { ...state, steps: (JSON.parse(data) as TrunkCheckProgress).steps };
    case 'check':
      return { ...state, check: JSON.parse(data) as TrunkCheck };
    case 'failed':
      return { ...state, failure: new ApiError((JSON.parse(data) as TrunkCheckFailure).error) };
    default:
      return state;
  }
}

/** Steps that have begun, or never will. @param isRunning false where the check is over, or broke off. */
export function shownSteps(steps: readonly Progress[], isRunning: boolean): readonly ShownStep[] {
  return steps
    .filter(({ state }) => state !== 'waiting')
    .map((step) => {
      const isLeft = step.state === 'running' && !isRunning;
      return isLeft ? { ...step, state: 'unchecked' } : step;
    });
}

/** Steps of a result. */
export function stepsFound(steps: TrunkCheck['steps']): readonly ShownStep[] {
  return steps.map(({ step, ok, message }) => ({ step, state: ok ? 'ok' : 'failed', message }));
}

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
  /** Name as its maker writes it. */
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

/** Placeholders for the reader's own addresses and names: example networks, and a home network. */
const EXAMPLE = /^(198\.51\.100\.|203\.0\.113\.|192\.168\.|YOUR-)/;

/** Initial values for a trunk of the carrier: the settings that are the same for every customer. */
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

/** Access fields that a preset leaves open, because only the customer knows them. For an unknown preset, all of them. */
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
