/** A drachtio-server and a FreeSWITCH of the test's own, on the configuration in sip-config/, to be killed at will. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { systemClock } from '../../src/lib/clock.ts';
import { EventSocket } from '../../src/telephony/freeswitch/event-socket.ts';
import { freePort } from '../support/network/free-ports.ts';
import { Relay } from './relay.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECRET = 'only-for-tests';
const START_MS_MAX = 20_000;

/** What FreeSWITCH gives to its legs; the even ones are for RTP. */
export const RTP_PORTS = { first: 30_000, last: 31_998 } as const;

/** Paths of the two programs; undefined, and plainly said, where they are not given. */
export function findPrograms(
  suite: string,
): { readonly drachtio: string; readonly freeswitch: string } | undefined {
  const { DRACHTIO_BIN, FREESWITCH_BIN } = env;
  if (DRACHTIO_BIN && FREESWITCH_BIN) {
    process.stdout.write(`${suite}: RUN with ${DRACHTIO_BIN} and ${FREESWITCH_BIN}\n`);
    return { drachtio: DRACHTIO_BIN, freeswitch: FREESWITCH_BIN };
  }
  process.stdout.write(`${suite}: SKIPPED, DRACHTIO_BIN and FREESWITCH_BIN are not set\n`);
  return undefined;
}

/** One program that can be killed and started again on the same ports. */
class RealProcess {
  readonly #start: () => ChildProcess;
  readonly #port: number;
  #child: ChildProcess | undefined;

  constructor(port: number, start: () => ChildProcess) {
    this.#port = port;
    this.#start = start;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Stops it where it stands: its connections stay, and nothing is answered. */
  hang(): void {
    this.#child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Resolves when its control port answers. */
  async start(): Promise<void> {
    this.#child = this.#start();
    const deadlineMs = performance.now() + START_MS_MAX;
    while (!(await doesAnswer(this.#port))) {
      if (performance.now() > deadlineMs) throw new Error('Cannot set up: the program is silent');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** At once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }
}

export interface RealWorld {
  readonly drachtio: RealProcess;
  readonly freeswitch: RealProcess;
  readonly sipPort: number;
  /** Between the phone server and drachtio-server's control port. */
  readonly relay: Relay;
  /** What the phone server needs to use them. */
  readonly environment: Readonly<Record<string, string>>;
  /** How many legs FreeSWITCH has. */
  channels(): Promise<number>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  /** Of drachtio-server's one contact; loopback when not given. */
  readonly sipAddress?: string;
  /** Of that contact; any free one when not given. */
  readonly sipPort?: number;
  /** Variables of FreeSWITCH. */
  readonly freeswitch?: Readonly<Record<string, string>>;
}

export async function startRealWorld(
  programs: { readonly drachtio: string; readonly freeswitch: string },
  options: WorldOptions = {},
): Promise<RealWorld> {
  const { sipAddress = '127.0.0.1', sipPort = await freePort() } = options;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-real-'));
  const [drachtioPort, eventPort] = [await freePort(), await freePort()];
  const [outerPort, innerPort] = [await freePort(), await freePort()];
  const drachtio = new RealProcess(drachtioPort, () =>
    startProgram(programs.drachtio, { DRACHTIO_SECRET: SECRET }, [
      ...['-f', join(ROOT, 'sip-config/drachtio.conf.xml'), '--port', String(drachtioPort)],
      ...['--contact', `sip:${sipAddress}:${sipPort};transport=udp,tcp`],
    ]),
  );
  const folders = ['log', 'db', 'run', 'cache', 'storage', 'recordings'].map((name) => {
    mkdirSync(join(folder, name));
    return [`-${name}`, join(folder, name)];
  });
  const freeswitch = new RealProcess(eventPort, () =>
    startProgram(
      programs.freeswitch,
      {
        FREESWITCH_SECRET: SECRET,
        FREESWITCH_PORT: String(eventPort),
        FREESWITCH_OUTER_SIP_PORT: String(outerPort),
        FREESWITCH_INNER_SIP_PORT: String(innerPort),
        FREESWITCH_RTP_FIRST: String(RTP_PORTS.first),
        FREESWITCH_RTP_LAST: String(RTP_PORTS.last),
        ...options.freeswitch,
      },
      [
        ...['-nf', '-nc', '-nonat', '-conf', join(ROOT, 'sip-config/freeswitch')],
        ...folders.flat(),
      ],
    ),
  );
  const relay = new Relay(drachtioPort);
  await Promise.all([drachtio.start(), freeswitch.start(), relay.start()]);
  return {
    drachtio,
    freeswitch,
    sipPort,
    relay,
    environment: {
      TELEPHONY: 'drachtio',
      DRACHTIO_HOST: `127.0.0.1:${relay.port}`,
      DRACHTIO_SECRET: SECRET,
      FREESWITCH_HOST: `127.0.0.1:${eventPort}`,
      FREESWITCH_SECRET: SECRET,
    },
    channels: () => channelsOf(eventPort),
    stop: async () => {
      relay.stop();
      await Promise.all([drachtio.kill(), freeswitch.kill()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Its output goes nowhere: what it did shows in the calls. */
function startProgram(path: string, own: Record<string, string>, args: readonly string[]) {
  return spawn(path, args, {
    env: { ...env, ...own },
    stdio: 'ignore',
  });
}

async function channelsOf(port: number): Promise<number> {
  const socket = await EventSocket.open({
    ...{ host: '127.0.0.1', port, secret: SECRET, clock: systemClock },
    onLost: () => undefined,
  });
  try {
    return Number.parseInt((await socket.api('show channels count')).trim(), 10);
  } finally {
    socket.close();
  }
}

function doesAnswer(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
