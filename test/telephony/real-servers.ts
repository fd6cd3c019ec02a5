/** Finds the real drachtio-server and FreeSWITCH that the environment names, and says plainly what runs against them. */
import { connect } from 'node:net';
import { env } from 'node:process';
import {
  parseServers,
  placeOf,
  type ServerAddress,
} from '../../src/telephony/trunks/server-list.ts';

export interface RealServers {
  readonly drachtio: readonly ServerAddress[];
  readonly drachtioSecret: string;
  /** True where the SIP server answers challenges itself, as our own does. */
  readonly doesAnswerChallenges?: boolean;
  readonly freeswitch: readonly ServerAddress[];
  readonly freeswitchSecret: string;
}

const CONNECT_MS_MAX = 1_000;

/** The servers, where every one of them answers; the reason where they do not. Prints which it is. */
export async function findRealServers(suite: string): Promise<RealServers | undefined> {
  const { DRACHTIO_HOST, DRACHTIO_PORT = '9022', DRACHTIO_SECRET = 'cymru' } = env;
  const { FREESWITCH_HOST, FREESWITCH_PORT = '8021', FREESWITCH_SECRET = 'ClueCon' } = env;
  if (!DRACHTIO_HOST || !FREESWITCH_HOST) {
    return skip(suite, 'DRACHTIO_HOST and FREESWITCH_HOST are not set');
  }
  const drachtio = parseServers(DRACHTIO_HOST, Number(DRACHTIO_PORT));
  const freeswitch = parseServers(FREESWITCH_HOST, Number(FREESWITCH_PORT));
  for (const server of [...drachtio, ...freeswitch]) {
    if (!(await doesAnswer(server))) return skip(suite, `nothing answers on ${placeOf(server)}`);
  }
  process.stdout.write(
    `${suite}: RUN against drachtio ${DRACHTIO_HOST} and FreeSWITCH ${FREESWITCH_HOST}\n`,
  );
  return {
    drachtio,
    drachtioSecret: DRACHTIO_SECRET,
    freeswitch,
    freeswitchSecret: FREESWITCH_SECRET,
  };
}

function skip(suite: string, why: string): undefined {
  process.stdout.write(`${suite}: SKIPPED, ${why}\n`);
  return undefined;
}

function doesAnswer({ host, port }: ServerAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS_MAX });
    const say = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => say(true));
    socket.once('error', () => say(false));
    socket.once('timeout', () => say(false));
  });
}
