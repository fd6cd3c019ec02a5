/**
 * linphonec, a SIP telephone of others' making, as the caller. It calls nowhere without a default route: it and the server have a
 * network of their own, with one that leads nowhere.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readWav, writeWav } from '../../examples/phone/wav.ts';
import { phraseSaying } from '../speech/spoken-phrases.ts';
import { whyNoNatNetwork } from '../support/network/nat-network.ts';
import { NetworkNamespace } from '../support/network/network-namespace.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import type { SaidWords } from '../support/speech/agent-call.ts';

const ADDRESS = '10.9.0.5';
const QUESTION = 'What are your opening hours?';
const LOUD = 2000;

const TRUNK = {
  ...{ name: 'office', proxy: ADDRESS, allowedSources: [ADDRESS], srtp: 'preferred' },
  numbers: ['+12025550123'],
};

/** One of a call's trace. */
interface SipMessage {
  readonly startLine: string;
  readonly text: string;
}

/** A telephone driven by its command line; it speaks from a file, and keeps what it hears in another. */
class Linphone {
  readonly folder = mkdtempSync(join(tmpdir(), 'offhook-linphone-'));
  readonly #child: ChildProcess;
  #output = '';

  constructor(namespace: NetworkNamespace, mediaEncryption: 'none' | 'srtp') {
    const config = join(this.folder, 'linphonerc');
    // It starts without a word about it, and calls nowhere, where it cannot open its database.
    mkdirSync(join(this.folder, '.local/share/linphone'), { recursive: true });
    writeFileSync(config, configOf(mediaEncryption));
    writeWav(join(this.folder, 'question.wav'), phraseSaying(QUESTION));
    this.#child = namespace.start(['linphonec', '-c', config], {
      environment: { HOME: this.folder },
    });
    const keep = (chunk: Buffer) => {
      this.#output += chunk.toString();
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
  }

  /** Gives a command, and waits for words in what is printed from then on. */
  async say(command: string, awaited: RegExp): Promise<void> {
    const from = this.#output.length;
    this.#child.stdin?.write(`${command}\n`);
    await expect
      .poll(() => this.#output.slice(from), { timeout: 15_000, interval: 50 })
      .toMatch(awaited);
  }

  get heard(): Int16Array {
    return readWav(join(this.folder, 'heard.wav'));
  }

  remove(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function configOf(mediaEncryption: string): string {
  return [
    ...['[sip]', 'sip_port=5070', 'sip_tcp_port=-1', 'sip_tls_port=-1'],
    ...[`media_encryption=${mediaEncryption}`, 'guess_hostname=1', '[rtp]', 'audio_rtp_port=7078'],
    ...['[sound]', 'echocancellation=0', '[net]', 'firewall_policy=none', ''],
  ].join('\n');
}

const reason = whyNoNatNetwork(['linphonec']);
if (reason !== undefined) process.stderr.write(`skipped: ${reason} (linphonec as the caller)\n`);

describe.skipIf(reason !== undefined)('linphonec as the caller', () => {
  let namespace: NetworkNamespace;
  const folder = mkdtempSync(join(tmpdir(), 'offhook-linphone-trunk-'));
  let server: TestServer;

  beforeAll(async () => {
    namespace = new NetworkNamespace('linphone');
    namespace.run('ip', 'link', 'add', 'out0', 'type', 'veth', 'peer', 'name', 'nowhere0');
    namespace.run('ip', 'address', 'add', `${ADDRESS}/24`, 'dev', 'out0');
    for (const end of ['out0', 'nowhere0']) namespace.run('ip', 'link', 'set', end, 'up');
    namespace.run('ip', 'route', 'add', 'default', 'via', '10.9.0.1');
    const SIP_TRUNKS = join(folder, 'trunks.json');
    writeFileSync(SIP_TRUNKS, JSON.stringify([TRUNK]));
    const environment = { SIP_HOST: ADDRESS, SIP_TRUNKS };
    server = await (await startServer({ namespace, environment })).ready();
    await server.createAgent({ greeting: 'Hello, can you hear me?' });
  });

  afterAll(async () => {
    await server.stop();
    await namespace.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The words of a party are put down when they have been said. */
  async function hasSaid(id: string, role: SaidWords['role'], times: number): Promise<void> {
    const count = async () => {
      const { body } = await server.api('GET', `/api/calls/${id}`);
      const transcript = (body.transcript ?? []) as readonly SaidWords[];
      return transcript.filter((entry) => entry.role === role).length;
    };
    await expect.poll(count, { timeout: 20_000 }).toBeGreaterThanOrEqual(times);
  }

  test.each([
    'none',
    'srtp',
  ] as const)('is heard and hears, media encryption %s', async (mediaEncryption) => {
    const phone = new Linphone(namespace, mediaEncryption);
    onTestFinished(() => phone.remove());
    await phone.say('', /linphonec>/);
    await phone.say('soundcard use files', /Using wav files/);
    await phone.say(`record ${join(phone.folder, 'heard.wav')}`, /linphonec>/);
    await phone.say(
      `call sip:+12025550123@${ADDRESS}:${server.sipPort}`,
      /connected|answered|running/i,
    );
    const id = await server.callInProgress();
    await hasSaid(id, 'agent', 1);
    await phone.say(`play ${join(phone.folder, 'question.wav')}`, /linphonec>/);
    await hasSaid(id, 'user', 1);
    await hasSaid(id, 'agent', 2);
    await phone.say('terminate', /ended|terminated/i);
    await server.endedCalls();
    const { body } = await server.api('GET', `/api/calls/${id}`);
    const heard = phone.heard.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    const trace = await server.api('GET', `/api/calls/${id}/sip`);

    expect(body).toMatchObject({ status: 'completed', endReason: 'user_hangup' });
    expect(body.transcript).toEqual(
      expect.arrayContaining([expect.objectContaining({ role: 'user', text: QUESTION })]),
    );
    expect(heard).toBeGreaterThan(LOUD);
    const messages = trace.body.messages as readonly SipMessage[];
    const answer = messages.find(
      ({ startLine, text }) => /^SIP\S+ 200/.test(startLine) && text.includes('m=audio'),
    );
    expect(answer?.text.includes('a=crypto:')).toBe(mediaEncryption === 'srtp');
  });
});
