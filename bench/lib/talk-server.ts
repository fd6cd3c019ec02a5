/** The whole server with stubs for models, as a process of its own, and calls to it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSdp } from '../../src/rtp/sdp.ts';
import { offer } from '../../src/rtp/sdp-answer.ts';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { freePort } from '../../test/support/network/free-ports.ts';
import { LineProcess } from './line-process.ts';
import { type Holdings, holdingsOf } from './process-memory.ts';
import { nodeTool } from './rtp-run.ts';
import { START_FLAGS } from './start-flags.ts';
import { LOOK_UP } from './stub-models.ts';
import type { StubTimes } from './stub-times.ts';

/** From the range that is kept for examples. */
const NUMBER = '+12025550123';
/** Of the agent with a tool. */
const TOOL_NUMBER = '+12025550124';
const ADDRESS = '127.0.0.1';
const RTP_PORT_FIRST = 26_000;

const CALLS_MAX = 250;

/** RTP and RTCP, of calls in progress and of as many that are over, whose ports stay bound for 30 s. */
const PORTS_PER_CALL = 4;

/** Calls that ring at the same time. */
const RINGING = 10;

export interface TalkServerOptions {
  readonly replyMs: number;
  /** Random addition to the fixed times of synthesis and recognition, at most. */
  readonly spreadMs?: number;
  /** How long the stubs take; as in `STUB_TIMES` unless given. */
  readonly times?: StubTimes;
  /** Whether answers are begun before a turn is over; not unless given. */
  readonly maySpeculate?: boolean;
  /** Whether calls are recorded; they are unless given. */
  readonly isRecorded?: boolean;
  /** A folder with a VAD model, which then runs on every call in addition to the energy detector. */
  readonly detectorFolder?: string;
  /** Calls at a time; 250 unless given. */
  readonly callsMax?: number;
  /** Its SIP trunks; none unless given, and then every caller of this machine is let in. */
  readonly trunks?: readonly object[];
  /** The URL of a tool that a second agent asks in every turn; no such agent unless given. */
  readonly toolUrl?: string;
  /** Where its RTP ports begin, for the second of two servers. */
  readonly rtpPortFirst?: number;
}

/** The server did not take a call. */
export class CallRefusedError extends Error {
  override readonly name = 'CallRefusedError';
}

interface Answered {
  readonly dialog: Dialog;
  /** Of the server. */
  readonly port: number;
}

export class TalkServer {
  readonly #process: LineProcess;
  readonly #folder: string;
  readonly #addresses: { readonly sip: string; readonly http: string };
  #phone = new UserAgent({ listen: [{ protocol: 'UDP', address: ADDRESS, port: 0 }] });
  #dialogs: readonly Dialog[] = [];

  private constructor(
    server: LineProcess,
    folder: string,
    addresses: { readonly sip: string; readonly http: string },
  ) {
    this.#process = server;
    this.#folder = folder;
    this.#addresses = addresses;
  }

  static async start(options: TalkServerOptions): Promise<TalkServer> {
    const folder = mkdtempSync(join(tmpdir(), 'bench-'));
    const [port, sipPort] = [await freePort(), await freePort()];
    const key = `svc_live_${randomBytes(16).toString('hex')}`;
    const [node, ...args] = nodeTool('talk-server');
    const trunksFile = join(folder, 'trunks.json');
    writeFileSync(trunksFile, JSON.stringify(options.trunks ?? []));
    const { callsMax = CALLS_MAX, rtpPortFirst = RTP_PORT_FIRST } = options;
    const lastPort = rtpPortFirst + callsMax * PORTS_PER_CALL - 1;
    const child = new LineProcess([node, ...START_FLAGS, ...args, JSON.stringify(options)], {
      ...{ PORT: String(port), SIP_PORT: String(sipPort), SIP_HOST: ADDRESS, DATA_DIR: folder },
      ...{ RTP_PORTS: `${rtpPortFirst}-${lastPort}`, MAX_CALLS: String(callsMax) },
      ...{
        WEBHOOK_ALLOW_LOCAL: 'true',
        BOOTSTRAP_LIVE_KEY: key,
        LOG_LEVEL: 'error',
        SIP_TRUNKS: trunksFile,
      },
    });
    const addresses = {
      sip: `sip:${NUMBER}@${ADDRESS}:${sipPort}`,
      http: `http://${ADDRESS}:${port}`,
    };
    const server = new TalkServer(child, folder, addresses);
    await child.next('listening');
    const { toolUrl } = options;
    await createAgent(addresses.http, key, { phoneNumber: NUMBER, tools: [] });
    if (toolUrl !== undefined) {
      await create(`${addresses.http}/api/tools`, key, toolAt(toolUrl));
      await createAgent(addresses.http, key, { phoneNumber: TOOL_NUMBER, tools: [LOOK_UP] });
    }
    await server.#phone.start();
    return server;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Where the agent is rung. */
  get uri(): string {
    return this.#addresses.sip;
  }

  /** The same server with calls of its own: to the agent that has a tool, or to the one that has none. */
  line(has: { readonly tool: boolean }): TalkServer {
    const sip = has.tool ? this.uri.replace(NUMBER, TOOL_NUMBER) : this.uri;
    const line = new TalkServer(this.#process, this.#folder, { ...this.#addresses, sip });
    line.#phone = this.#phone;
    return line;
  }

  get sipPort(): number {
    return Number(this.uri.split(':').at(-1));
  }

  /** What it holds at the moment. */
  holdings(): Promise<Holdings> {
    return holdingsOf(this.#process);
  }

  /**
   * Rings once for each of our RTP ports.
   *
   * @returns the server's ports, in the same order.
   * @throws {CallRefusedError} where one is refused; the others are up until `hangUp`.
   */
  async call(ports: readonly number[]): Promise<readonly number[]> {
    const answered: Answered[] = [];
    for (let first = 0; first < ports.length; first += RINGING) {
      const some = ports.slice(first, first + RINGING).map((port) => this.#ring(port));
      const outcomes = await Promise.allSettled(some);
      answered.push(...outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
      this.#dialogs = answered.map(({ dialog }) => dialog);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    }
    return answered.map(({ port }) => port);
  }

  /** How many answers were begun ahead since the start, by what became of them. */
  async speculations(): Promise<{ readonly hits: number; readonly misses: number }> {
    const text = await this.#metrics();
    const count = (outcome: string) =>
      Number(
        new RegExp(`^offhook_speculations_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(
          text,
        )?.[1] ?? 0,
      );
    return { hits: count('hit'), misses: count('miss') };
  }

  /** How many requests of strangers on this machine it has counted since the start. */
  async strangers(): Promise<number> {
    const line = /^offhook_sip_strangers_total\{network="loopback"\} (\d+)$/m;
    return Number(line.exec(await this.#metrics())?.[1]);
  }

  async #metrics(): Promise<string> {
    return (await fetch(`${this.#addresses.http}/metrics`)).text();
  }

  async hangUp(): Promise<void> {
    const dialogs = this.#dialogs;
    this.#dialogs = [];
    for (const dialog of dialogs) await dialog.bye();
  }

  async stop(): Promise<void> {
    await this.#process.end();
    await this.#phone.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async #ring(port: number): Promise<Answered> {
    const sdp = offer({ address: ADDRESS, port, sessionId: 1, version: 1 });
    const invite = this.#phone.invite({
      uri: this.#addresses.sip,
      from: `<sip:+12025550187@${ADDRESS}>`,
      acknowledge: 'automatic',
      body: `${sdp}a=rtcp-mux\r\n`,
    });
    const { response, dialog } = await invite.outcome;
    if (dialog === null) {
      const { sip } = this.#addresses;
      throw new CallRefusedError(`Cannot call "${sip}": it said ${response.status}`);
    }
    return { dialog, port: parseSdp(response.body.toString()).port };
  }
}

async function createAgent(
  http: string,
  key: string,
  agent: { readonly phoneNumber: string; readonly tools: readonly string[] },
): Promise<void> {
  await create(`${http}/api/agents`, key, {
    ...agent,
    name: 'Bench',
    greeting: 'Hello, this is a benchmark.',
    systemPrompt: 'You are measured.',
    settings: { silenceTimeoutSeconds: 120 },
  });
}

function toolAt(url: string): object {
  return {
    name: LOOK_UP,
    description: 'Looks something up.',
    parameters: { type: 'object', properties: {} },
    method: 'GET',
    url,
  };
}

async function create(url: string, key: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`Cannot POST ${url}: ${await response.text()}`);
}
