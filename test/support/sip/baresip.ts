/** baresip, a SIP telephone of others' making, as the caller: driven over its control port, its sound kept as WAV files. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWav } from '../../../examples/phone/wav.ts';
import { readWavHeader, WAV_HEADER_BYTES } from '../../../src/media/recording/wav-file.ts';
import { freePort } from '../network/free-ports.ts';

const START_MS_MAX = 10_000;
const EVENT_MS_MAX = 15_000;
const STOP_MS_MAX = 5000;
const RATE_HZ = 8000;

/** Played when there is nothing to say, and after every sentence: longer than any call of these tests. */
const SILENCE = new Int16Array(120 * RATE_HZ);

/** One message of the control port: an event, or the answer to a command. */
interface Message {
  readonly event?: boolean;
  readonly type?: string;
  readonly response?: boolean;
  readonly ok?: boolean;
  readonly data?: string;
  readonly token?: string;
}

/** SIP over TLS, and SRTP. */
export interface BaresipSecurity {
  /** PEM text. */
  readonly ca: string;
  /** PEM text of a certificate and its key, for calls that come in. */
  readonly identity: { readonly cert: string; readonly key: string };
  /** `srtp`: keys with plain RTP's name; `srtp-mand`: RTP/SAVP. */
  readonly mediaEncryption: 'srtp' | 'srtp-mand';
}

interface BaresipOptions {
  readonly security?: BaresipSecurity;
  /** Its only codec; PCMU when not given. */
  readonly codec?: keyof typeof CODECS;
}

/** As baresip lists them, by the rate of their sound. */
const CODECS = { PCMU: 'PCMU/8000/1', G722: 'G722/16000/1', opus: 'opus/48000/2' } as const;

interface Ports {
  readonly sip: number;
  readonly control: number;
}

export class Baresip {
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #messages: Message[] = [];
  #control: Socket | undefined;
  #pending = Buffer.alloc(0);
  #output = '';
  #commands = 0;
  #sentences = 0;

  readonly port: number;
  /** Port of its TLS listener, one above that of the others. */
  readonly tlsPort: number;

  private constructor(folder: string, { sip }: Ports) {
    this.#folder = folder;
    this.port = sip;
    this.tlsPort = sip + 1;
    this.#child = spawn('baresip', ['-f', folder], { cwd: folder });
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
    this.#exited = new Promise((resolve) => this.#child.on('close', resolve));
  }

  /** Starts one with a folder and ports of its own; it speaks as `number`, and answers by itself. */
  static start(number: string, options: BaresipOptions = {}): Promise<Baresip> {
    const { security, codec = 'PCMU' } = options;
    const secure = security ? `;mediaenc=${security.mediaEncryption}` : '';
    const address = `<sip:${number}@127.0.0.1${security ? ';transport=tls' : ''}>`;
    const account = `${address};regint=0;answermode=auto;audio_codecs=${CODECS[codec]}${secure}`;
    return Baresip.#open(account, security);
  }

  /** Starts one that registers with a password, and waits until it has. */
  static async register(name: string, password: string, registrar: string): Promise<Baresip> {
    const fields = `auth_user=${name};auth_pass=${password};regint=60;audio_codecs=PCMU`;
    const baresip = await Baresip.#open(`<sip:${name}@${registrar}>;${fields}`);
    // Its control port opens later than it registers.
    await baresip.#until(
      () => /200 OK .*\[[1-9]\d* binding/.test(baresip.#output),
      'be registered',
    );
    return baresip;
  }

  static async #open(account: string, security?: BaresipSecurity): Promise<Baresip> {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-baresip-'));
    const ports = { sip: await freePort(), control: await freePort() };
    writeWav(join(folder, 'silence.wav'), SILENCE);
    const config = configFor(folder, ports) + (security ? secureConfig(folder, security) : '');
    writeFileSync(join(folder, 'config'), config);
    writeFileSync(join(folder, 'accounts'), `${account}\n`);
    writeFileSync(join(folder, 'contacts'), '');
    const baresip = new Baresip(folder, ports);
    await baresip.#openControl(ports.control);
    return baresip;
  }

  /** Rings, and waits for the answer. */
  async dial(uri: string): Promise<void> {
    await this.#command('dial', uri);
    await this.#event('CALL_ESTABLISHED');
  }

  /** Waits for a call that it answers by itself. */
  async answered(): Promise<void> {
    await this.#event('CALL_ESTABLISHED');
  }

  /** Says this next, 8 kHz, from now on; silence follows. */
  async speak(pcm: Int16Array): Promise<void> {
    this.#sentences += 1;
    const path = join(this.#folder, `sentence-${this.#sentences}.wav`);
    writeWav(path, Int16Array.from([...pcm, ...SILENCE]));
    await this.#command('ausrc', `aufile,${path}`);
  }

  async hold(): Promise<void> {
    await this.#reoffer('hold');
  }

  async resume(): Promise<void> {
    await this.#reoffer('resume');
  }

  /** Presses a key, as an RFC 4733 event. */
  async press(digit: string): Promise<void> {
    await this.#command('sndcode', digit);
  }

  /** Transfers the call by REFER, and waits until the far end has hung up. */
  async transfer(uri: string): Promise<void> {
    await this.#command('transfer', uri);
    await this.#event('CALL_CLOSED');
  }

  async hangUp(): Promise<void> {
    await this.#command('hangup');
    await this.#event('CALL_CLOSED');
  }

  /** What it has heard, brought to 8 kHz from the rate of its codec; whole once it has stopped. */
  recording(): Int16Array {
    const [file] = readdirSync(this.#folder).filter((name) => /^dump-.*-dec\.wav$/.test(name));
    if (file === undefined)
      throw new Error(`baresip has recorded nothing; it said:\n${this.#output}`);
    return readAtLineRate(join(this.#folder, file));
  }

  /** Ends the program; its recording stays until `remove`. */
  async stop(): Promise<void> {
    this.#control?.destroy();
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
      await this.#exited;
      clearTimeout(timer);
    }
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #reoffer(command: 'hold' | 'resume'): Promise<void> {
    const before = this.#count('CALL_REMOTE_SDP');
    await this.#command(command);
    await this.#until(() => this.#count('CALL_REMOTE_SDP') > before, `the answer to ${command}`);
  }

  async #openControl(port: number): Promise<void> {
    const deadlineMs = performance.now() + START_MS_MAX;
    while (performance.now() < deadlineMs && this.#child.exitCode === null) {
      const socket = await connected(port);
      if (socket !== undefined) {
        this.#control = socket.on('data', (bytes) => this.#take(bytes));
        return;
      }
      await wait(50);
    }
    throw new Error(`baresip did not start; it said:\n${this.#output}`);
  }

  async #command(command: string, params = ''): Promise<void> {
    this.#commands += 1;
    const token = String(this.#commands);
    const body = JSON.stringify({ command, params, token });
    this.#control?.write(`${Buffer.byteLength(body)}:${body},`);
    const answer = () => this.#messages.find((message) => message.token === token);
    await this.#until(() => answer() !== undefined, `the answer to "${command}"`);
    if (answer()?.ok !== true) throw new Error(`baresip refused "${command}": ${answer()?.data}`);
  }

  async #event(type: string): Promise<void> {
    await this.#until(() => this.#count(type) > 0, type);
  }

  #count(type: string): number {
    return this.#messages.filter((message) => message.type === type).length;
  }

  async #until(isTrue: () => boolean, what: string): Promise<void> {
    const deadlineMs = performance.now() + EVENT_MS_MAX;
    while (!isTrue()) {
      if (performance.now() > deadlineMs || this.#child.exitCode !== null) {
        throw new Error(`baresip did not come to ${what}; it said:\n${this.#output}`);
      }
      await wait(20);
    }
  }

  /** Messages are netstrings: `LENGTH:JSON,`. */
  #take(bytes: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    for (;;) {
      const colon = this.#pending.indexOf(':');
      const end = colon + 1 + Number(this.#pending.toString('latin1', 0, colon));
      if (colon < 0 || this.#pending.length <= end) return;
      this.#messages.push(JSON.parse(this.#pending.toString('utf8', colon + 1, end)));
      this.#pending = this.#pending.subarray(end + 1);
    }
  }
}

/** `aufile` is the microphone; `sndfile` writes down what comes in and goes out. */
function configFor(folder: string, { sip, control }: Ports): string {
  const modules = ['g711', 'g722', 'opus', 'aufile', 'sndfile', 'ctrl_tcp', 'uuid'].map(
    (name) => `module ${name}.so`,
  );
  const lines = [
    'poll_method epoll',
    `sip_listen 127.0.0.1:${sip}`,
    'call_local_timeout 30',
    `audio_source aufile,${join(folder, 'silence.wav')}`,
    'audio_alert none',
    // Its codecs of 16 and 48 kHz take the same files.
    `ausrc_srate ${RATE_HZ}`,
    'ausrc_channels 1',
    'rtp_ports 42000-42999',
    'module_path /usr/lib/baresip/modules',
    ...modules,
    'module_app account.so',
    'module_app menu.so',
    `ctrl_tcp_listen 127.0.0.1:${control}`,
    `snd_path ${folder}`,
  ];
  return `${lines.join('\n')}\n`;
}

function secureConfig(folder: string, { ca, identity }: BaresipSecurity): string {
  writeFileSync(join(folder, 'ca.pem'), ca);
  writeFileSync(join(folder, 'identity.pem'), `${identity.cert}${identity.key}`);
  const lines = [
    'module srtp.so',
    `sip_certificate ${join(folder, 'identity.pem')}`,
    `sip_cafile ${join(folder, 'ca.pem')}`,
    'sip_verify_server yes',
  ];
  return `${lines.join('\n')}\n`;
}

/** A connection to a port of this machine; undefined when no program listens there yet. */
function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

function wait(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** The mean of each 125 microseconds of a WAV of 16 bits, of any channels and any multiple of 8 kHz. */
function readAtLineRate(path: string): Int16Array {
  const file = readFileSync(path);
  const shape = readWavHeader(file);
  if (shape === undefined) throw new Error(`Cannot read "${path}": not a WAV of 16 bits`);
  const bytes = Uint8Array.from(file.subarray(WAV_HEADER_BYTES));
  const samples = new Int16Array(bytes.buffer, 0, bytes.length >> 1);
  const each = (shape.rateHz / RATE_HZ) * shape.channels;
  return Int16Array.from({ length: Math.floor(samples.length / each) }, (_, at) => {
    const part = samples.subarray(at * each, (at + 1) * each);
    return part.reduce((sum, sample) => sum + sample, 0) / each;
  });
}
