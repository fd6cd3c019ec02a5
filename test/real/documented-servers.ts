/** drachtio-server and FreeSWITCH in a network namespace, started by the commands that an operator's page shows. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { NetworkNamespace } from '../support/network/network-namespace.ts';
import type { DocumentedCommand } from '../support/server/documented-commands.ts';

const ROOT = join(import.meta.dirname, '../..');
const START_MS_MAX = 30_000;
const POLL_MS = 100;

/** The same for both servers and the phone server. */
export const SECRETS = { DRACHTIO_SECRET: 'only-for-tests', FREESWITCH_SECRET: 'only-for-tests' };

/** Control ports of the two, by the page. */
const CONTROL_PORTS: Readonly<Record<string, number>> = { drachtio: 9022, freeswitch: 8021 };

export interface Programs {
  readonly drachtio: string;
  readonly freeswitch: string;
}

/** A folder like the checkout's, for commands that name files in it. */
export class DocumentedServers {
  readonly #namespace: NetworkNamespace;
  readonly #folder = mkdtempSync(join(tmpdir(), 'offhook-documented-'));

  constructor(namespace: NetworkNamespace, programs: Programs) {
    this.#namespace = namespace;
    symlinkSync(join(ROOT, 'sip-config'), join(this.#folder, 'sip-config'));
    for (const [name, path] of Object.entries(programs))
      symlinkSync(path, join(this.#folder, name));
  }

  /**
   * Runs the commands: those of a server until its control port answers, the others to their end.
   *
   * @throws {Error} with what a program printed, when it fails or stays silent.
   */
  async run(commands: readonly DocumentedCommand[]): Promise<void> {
    for (const command of commands) {
      const port = CONTROL_PORTS[command.program];
      if (port === undefined)
        this.#namespace.run('sh', '-c', `cd ${this.#folder} && ${command.text}`);
      else await this.#start(command, port);
    }
  }

  /** Removes the folder; the programs end with the namespace. */
  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start({ environment, program, text }: DocumentedCommand, port: number): Promise<void> {
    const PATH = `${this.#folder}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
    const child = this.#namespace.start(['sh', '-c', `cd ${this.#folder} && exec ${text}`], {
      environment: { PATH, ...SECRETS, ...environment },
    });
    let output = '';
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const deadlineMs = performance.now() + START_MS_MAX;
    while (!this.#isListening(port)) {
      if (child.exitCode !== null || performance.now() > deadlineMs) {
        throw new Error(`Cannot start ${program} by "${text}": ${output}`);
      }
      await wait(POLL_MS);
    }
  }

  #isListening(port: number): boolean {
    return this.#namespace.run('ss', '-Hltn').includes(`127.0.0.1:${port} `);
  }
}
