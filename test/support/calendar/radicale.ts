/** Radicale, a CalDAV server of Debian, with one calendar, behind a proxy that can lose its answers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { testFolder } from '../store/test-store.ts';

export const USERNAME = 'desk';

export const PASSWORD = 'p:ä ssword';

/** Starts within a second, on a busy machine within ten. */
const START_TRIES = 200;

/**
 * Fate of the next answer to a PUT that the server has carried out. `lost`: the connection breaks. `killed`: the server dies
 * with it. `held`: it never comes.
 */
type AnswerMode = 'pass' | 'lost' | 'killed' | 'held';

export class Radicale {
  /** Of the next PUT alone. */
  answers: AnswerMode = 'pass';
  /** Answers that were held back. */
  held = 0;
  readonly #folder = testFolder();
  #child: ChildProcess | undefined;
  #port = 0;
  #proxy: Server | undefined;

  static async open(): Promise<Radicale> {
    const radicale = new Radicale();
    onTestFinished(() => radicale.stop());
    radicale.#writeConfig(await freePort());
    await radicale.start();
    await radicale.#openProxy();
    return radicale;
  }

  /** Of the collection, through the proxy. */
  get url(): string {
    return `http://127.0.0.1:${(this.#proxy?.address() as AddressInfo).port}/${USERNAME}/work/`;
  }

  /** The events as the server has stored them. */
  get events(): readonly string[] {
    const files = readdirSync(this.#collection).filter((name) => name.endsWith('.ics'));
    return files.map((name) => readFileSync(join(this.#collection, name), 'utf8'));
  }

  async start(): Promise<void> {
    this.#child = spawn('radicale', ['--config', join(this.#folder, 'config')], {
      stdio: 'ignore',
    });
    for (let tries = 0; tries < START_TRIES; tries += 1) {
      const answer = await fetch(`http://127.0.0.1:${this.#port}/.web`).catch(() => undefined);
      if (answer !== undefined) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('Radicale did not start: is the Debian package "radicale" installed?');
  }

  async stop(): Promise<void> {
    this.#proxy?.close();
    await this.kill();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Puts an event into the calendar, as another program would. */
  async add(uid: string, lines: readonly string[]): Promise<void> {
    const text = [
      ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:test', 'BEGIN:VEVENT', `UID:${uid}`],
      ...['DTSTAMP:20261101T000000Z', ...lines, 'END:VEVENT', 'END:VCALENDAR', ''],
    ].join('\r\n');
    const answer = await fetch(`http://127.0.0.1:${this.#port}/${USERNAME}/work/${uid}.ics`, {
      method: 'PUT',
      headers: { Authorization: basicAuth(), 'Content-Type': 'text/calendar' },
      body: text,
    });
    if (!answer.ok) throw new Error(`Radicale refused the event: ${answer.status}`);
  }

  get #collection(): string {
    return join(this.#folder, 'data/collection-root', USERNAME, 'work');
  }

  #writeConfig(port: number): void {
    this.#port = port;
    mkdirSync(this.#collection, { recursive: true });
    writeFileSync(join(this.#collection, '.Radicale.props'), '{"tag": "VCALENDAR"}');
    writeFileSync(join(this.#folder, 'users'), `${USERNAME}:${PASSWORD}\n`);
    const config = [
      ...['[server]', `hosts = 127.0.0.1:${port}`, 'ssl = False'],
      ...['[auth]', 'type = htpasswd', 'htpasswd_encryption = plain', 'delay = 0'],
      `htpasswd_filename = ${join(this.#folder, 'users')}`,
      ...['[rights]', 'type = owner_only'],
      ...['[storage]', `filesystem_folder = ${join(this.#folder, 'data')}`, ''],
    ];
    writeFileSync(join(this.#folder, 'config'), config.join('\n'));
  }

  async #openProxy(): Promise<void> {
    const proxy = createServer((client) => {
      const server = connect(this.#port, '127.0.0.1');
      let isPut = false;
      let isHeld = false;
      client.on('data', (chunk) => {
        if (chunk.toString('latin1').startsWith('PUT ')) isPut = true;
        server.write(chunk);
      });
      server.on('data', (chunk) => {
        if (isHeld) return;
        if (!isPut || this.answers === 'pass') {
          client.write(chunk);
          return;
        }
        if (this.answers === 'killed') void this.kill();
        isHeld = this.answers === 'held';
        if (isHeld) this.held += 1;
        else client.destroy();
        this.answers = 'pass';
      });
      client.on('error', () => server.destroy());
      server.on('error', () => client.destroy());
      client.on('close', () => server.destroy());
      server.on('close', () => {
        if (!isHeld) client.destroy();
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    this.#proxy = proxy;
  }
}

function basicAuth(): string {
  return `Basic ${Buffer.from(`${USERNAME}:${PASSWORD}`).toString('base64')}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
