/** sipp as the carrier behind a trunk: takes the calls that the server under test places, and tells which there were. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/free-ports.ts';

const SCENARIO = join(import.meta.dirname, 'sipp-uas.xml');

/** What the last two digits of a called number stand for; with any others it answers, and hangs up after 1.5 s. */
export const CALLEE = {
  busy: '86',
  declined: '03',
  away: '80',
  unknown: '04',
  broken: '50',
  /** Rings until CANCEL. */
  silent: '90',
  /** Is heard before it answers, and hangs up after 1.5 s. */
  early: '83',
  /** Answers, and never hangs up. */
  patient: '77',
  friendly: '00',
} as const;

export class SippCarrier {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  private constructor(port: number) {
    this.port = port;
    this.#folder = mkdtempSync(join(tmpdir(), 'offhook-uas-'));
    const where = ['-i', '127.0.0.1', '-p', String(port), '-mi', '127.0.0.1'];
    const trace = ['-trace_msg', '-message_file', join(this.#folder, 'messages.log')];
    this.#child = spawn('sipp', ['-sf', SCENARIO, ...where, ...trace, '-nostdin'], {
      cwd: this.#folder,
      stdio: 'ignore',
    });
    this.#closed = new Promise((resolve) => this.#child.on('close', resolve));
  }

  static async start(): Promise<SippCarrier> {
    const carrier = new SippCarrier(await freePort());
    // It says nothing when it listens; the first INVITE would be sent again anyway.
    await new Promise((resolve) => setTimeout(resolve, 500));
    return carrier;
  }

  /** Path of a trunk file by which the server calls here from `numbers`. */
  trunkFile(numbers: readonly string[], fields: Readonly<Record<string, unknown>> = {}): string {
    const path = join(this.#folder, 'trunks.json');
    const proxy = `127.0.0.1:${this.port}`;
    // The scenario knows calls alone.
    const trunk = { name: 'sipp', proxy, numbers, optionsIntervalSeconds: 0, ...fields };
    writeFileSync(path, JSON.stringify([trunk]));
    return path;
  }

  /** The called numbers in the order of their first INVITE; a number that was called twice is there twice. */
  invited(): string[] {
    return this.#numbersOf('INVITE');
  }

  /** The numbers whose call was given up while it rang. */
  cancelled(): string[] {
    return this.#numbersOf('CANCEL');
  }

  /** Once for each Call-ID: a request may be sent again. */
  #numbersOf(method: string): string[] {
    const log = readFileSync(join(this.#folder, 'messages.log'), 'utf8');
    const requests = new RegExp(`^${method} sip:([^@]+)@([\\s\\S]*?)\\r?\\n\\r?\\n`, 'gm');
    const calls = new Map<string, string>();
    for (const [, number = '', rest = ''] of log.matchAll(requests)) {
      const callId = /^Call-ID:\s*(\S+)/im.exec(rest)?.[1];
      if (callId !== undefined && !calls.has(callId)) calls.set(callId, number);
    }
    return [...calls.values()];
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
