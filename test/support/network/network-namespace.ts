/** A network of its own on this machine, with programs in it that see nothing else. Linux, as root, with `ip`. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node');
const END_MS_MAX = 5000;

/** Options of a program in a namespace. */
export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

export class NetworkNamespace {
  /** As `ip netns` knows it. */
  readonly name: string;
  readonly #programs: ChildProcess[] = [];
  readonly #servers: Server[] = [];
  readonly #folders: string[] = [];
  #hostsFile = '';

  /** @param name of a few letters; the namespace has the number of this process in its name too. */
  constructor(name: string) {
    this.name = `offhook-${process.pid}-${name}`;
    execFileSync('ip', ['netns', 'add', this.name]);
    this.run('ip', 'link', 'set', 'lo', 'up');
  }

  /** The words in front of a command that has to run inside. */
  get prefix(): readonly string[] {
    const inside = ['ip', 'netns', 'exec', this.name];
    return this.#hostsFile === '' ? inside : [...inside, ...withHosts(this.#hostsFile)];
  }

  /** From now on programs that are started know these names. Said again, those that run know them too. */
  nameHosts(addresses: Readonly<Record<string, string>>): void {
    const lines = Object.entries(addresses).map(([name, address]) => `${address} ${name}\n`);
    if (this.#hostsFile === '') {
      const folder = mkdtempSync(join(tmpdir(), 'offhook-hosts-'));
      this.#folders.push(folder);
      this.#hostsFile = join(folder, 'hosts');
    }
    writeFileSync(this.#hostsFile, lines.join(''));
  }

  /** Runs a program to its end. @throws {Error} with what it printed, when it fails. */
  run(...command: readonly string[]): string {
    const [program = '', ...rest] = [...this.prefix, ...command];
    return execFileSync(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  }

  /** Starts a program; its input and output are pipes. It is ended with the namespace at the latest. */
  start(command: readonly string[], { environment = {} }: ProgramOptions = {}): ChildProcess {
    const [program = '', ...rest] = [...this.prefix, ...command];
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
    const child = spawn(program, rest, { env: { ...env, ...environment } });
    this.#programs.push(child);
    return child;
  }

  /** Starts a Node program. @param file in this folder */
  startNode(file: string, ...words: readonly string[]): ChildProcess {
    return this.start([NODE, join(import.meta.dirname, file), ...words]);
  }

  /** Makes a TCP port of the namespace's 127.0.0.1 reachable from here. @returns the port on our 127.0.0.1. */
  async openPort(port: number): Promise<number> {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-relay-'));
    this.#folders.push(folder);
    const path = join(folder, 'relay');
    const relay = this.startNode('namespace-relay.ts', path, String(port));
    if (relay.stdout !== null) await once(relay.stdout, 'data');
    const server = createServer((here) => {
      const there = connect(path);
      pipeline(here, there, () => undefined);
      pipeline(there, here, () => undefined);
    });
    this.#servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Ends the programs and removes the namespace. Safe to call twice. */
  async close(): Promise<void> {
    for (const server of this.#servers.splice(0)) server.close();
    await Promise.all(this.#programs.splice(0).map(ended));
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true });
    const all = execFileSync('ip', ['netns', 'list']).toString();
    if (all.includes(this.name)) execFileSync('ip', ['netns', 'del', this.name]);
  }
}

/** Puts a file in the place of /etc/hosts, in sight of one program and its children alone. */
function withHosts(file: string): readonly string[] {
  const script = 'mount --bind "$1" /etc/hosts; shift; exec "$@"';
  return ['unshare', '-m', 'sh', '-ec', script, 'sh', file];
}

/** Ends a program, by force where it does not want to. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
  await exited;
  clearTimeout(timer);
}
