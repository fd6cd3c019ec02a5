/** Settings that are valid and probably not meant so; pure */
import { SECRETS } from './secret-files.ts';

export interface SettingWarning {
  /** Names of the settings; their values may be secret. */
  readonly settings: readonly string[];
  readonly problem: string;
  readonly advice: string;
}

interface Ports {
  readonly TELEPHONY: 'embedded' | 'drachtio';
  readonly SIP_PORT: number;
  readonly RTP_PORTS: { readonly first: number; readonly last: number };
}

/** Warnings for the log at the start and for the doctor. @param environment that the settings were read from. */
export function settingWarnings(
  ports: Ports,
  environment: NodeJS.ProcessEnv,
): readonly SettingWarning[] {
  return [...secretsGivenTwice(environment), ...sipAmongAudio(ports)];
}

function secretsGivenTwice(environment: NodeJS.ProcessEnv): readonly SettingWarning[] {
  return [...SECRETS].flatMap((name) => {
    const settings = [name, `${name}_FILE`];
    if (settings.some((each) => (environment[each] ?? '') === '')) return [];
    const problem = `${name} is given twice: the variable is used, and the file is not read`;
    return [{ settings, problem, advice: `remove ${name} or ${name}_FILE` }];
  });
}

/** A pair of ports that is taken is passed over; nothing else tells the operator of the overlap. */
function sipAmongAudio({ TELEPHONY, SIP_PORT, RTP_PORTS }: Ports): readonly SettingWarning[] {
  const isAmong = SIP_PORT >= RTP_PORTS.first && SIP_PORT <= RTP_PORTS.last;
  if (TELEPHONY !== 'embedded' || !isAmong) return [];
  return [
    {
      settings: ['RTP_PORTS', 'SIP_PORT'],
      problem: `RTP_PORTS ${RTP_PORTS.first}-${RTP_PORTS.last} contains SIP_PORT ${SIP_PORT}: no call can have audio on it`,
      advice: 'choose ports for audio that leave it out',
    },
  ];
}
