/** baresip over TLS with SRTP, in and out: sound both ways, and no word in plain RTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { speakAll } from '../../examples/demo/voice.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { TestAuthority } from '../support/network/certificates.ts';
import { freePort } from '../support/network/free-ports.ts';
import { describeWith } from '../support/server/programs.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { Baresip, type BaresipSecurity } from '../support/sip/baresip.ts';

const OURS = '+12025550123';
const NUMBER = '+12025550187';
const SENTENCE = 'I would like to book an appointment.';
const VOICE = 'en-US-GuyNeural';
const EVENTUALLY_MS_MAX = 20_000;
const FRAME_SAMPLES = 160;

interface CallRecord {
  readonly id: string;
  readonly status: string;
  readonly transcript: readonly { readonly role: string; readonly text: string }[] | null;
}

interface Packets {
  readonly packetsReceived: number;
  readonly packetsRejected: number;
}

describeWith(['baresip', 'espeak-ng'], 'baresip over TLS with SRTP', () => {
  const authority = new TestAuthority();
  const folder = mkdtempSync(join(tmpdir(), 'offhook-tls-'));
  let server: TestServer;
  let agentId: string;
  let baresip: Baresip;
  let tlsPort: number;

  const security = (mediaEncryption: BaresipSecurity['mediaEncryption']): BaresipSecurity => ({
    ca: authority.cert,
    identity: authority.sign(),
    mediaEncryption,
  });

  /** A server whose only trunk is the telephone. */
  async function start(mediaEncryption: BaresipSecurity['mediaEncryption']): Promise<void> {
    baresip = await Baresip.start(NUMBER, { security: security(mediaEncryption) });
    const trunk = {
      name: 'baresip',
      proxy: `127.0.0.1:${baresip.tlsPort};transport=tls`,
      srtp: mediaEncryption === 'srtp' ? 'preferred' : 'required',
      numbers: [OURS],
      allowedSources: ['127.0.0.1'],
      optionsIntervalSeconds: 0,
    };
    const { cert, key } = authority.sign();
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    tlsPort = await freePort();
    const environment = {
      LOG_LEVEL: 'debug',
      SIP_TRUNKS: file('trunks.json', JSON.stringify([trunk])),
      SIP_TLS_PORT: String(tlsPort),
      SIP_TLS_CERT: file('cert.pem', cert),
      SIP_TLS_KEY: file('key.pem', key),
      SIP_TLS_CA: file('ca.pem', authority.cert),
    };
    server = await (await startServer({ environment })).ready();
    agentId = await server.createAgent({ greeting: 'Hello, can you hear me?', phoneNumber: OURS });
  }

  afterEach(async () => {
    await baresip.remove();
    await server.stop();
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function newest(): Promise<CallRecord> {
    const { body } = await server.api('GET', `/api/calls?agentId=${agentId}&limit=1`);
    const [call] = body.data as readonly { readonly id: string }[];
    const { body: record } = await server.api('GET', `/api/calls/${call?.id}`);
    return record as unknown as CallRecord;
  }

  async function newestOnce(isWanted: (call: CallRecord) => boolean): Promise<CallRecord> {
    const deadlineMs = performance.now() + EVENTUALLY_MS_MAX;
    let call = await newest();
    while (!isWanted(call) && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      call = await newest();
    }
    return call;
  }

  const wordsOf = ({ transcript }: CallRecord, role: string) =>
    (transcript ?? []).filter((entry) => entry.role === role).map(({ text }) => text);

  /** Holds and resumes once the greeting is over, says a sentence, hangs up, and gives record, trace and packets. */
  async function talk() {
    const [pcm = new Int16Array()] = await speakAll([SENTENCE], VOICE);
    await newestOnce((call) => wordsOf(call, 'agent').length === 1);
    // Both are re-INVITEs, which may bring new keys.
    await baresip.hold();
    await baresip.resume();
    await baresip.speak(pcm);
    const heard = await newestOnce((call) => wordsOf(call, 'user').length > 0);
    await baresip.hangUp();
    const { id } = await newestOnce(({ status }) => status === 'completed');
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { body } = await server.api('GET', `/api/calls/${id}/sip`);
    const { body: quality } = await server.api('GET', `/api/calls/${id}/quality`);
    const { local } = quality as { readonly local: Packets };
    return { heard, trace: JSON.stringify(body), local };
  }

  test.each([
    ['srtp-mand', 'RTP/SAVP'],
    ['srtp', 'RTP/AVP'],
  ] as const)('a call in with %s is heard and hears, and no key is on record', async (mediaEncryption, protocol) => {
    await start(mediaEncryption);

    await baresip.dial(`sip:${OURS}@127.0.0.1:${tlsPort};transport=tls`);
    const { heard, trace, local } = await talk();
    await baresip.stop();

    expect(wordsOf(heard, 'user')).toEqual([SENTENCE]);
    expect(voicedMs(baresip.recording())).toBeGreaterThan(800);
    expect(local.packetsReceived).toBeGreaterThan(150);
    // It pings and says goodbye by RTCP in the clear, and its description names another address than its packets have.
    expect(local.packetsRejected).toBeLessThan(20);
    expect(trace).toMatch(/SIP\/2\.0\/TLS/);
    expect(trace).toMatch(new RegExp(`m=audio \\d+ ${protocol} `));
    expect(trace).toMatch(/a=crypto:\d+ \w+ \(removed\)/);
    expect(`${trace}${server.output}`).not.toMatch(/inline:/);
  });

  test('a call out with RTP/SAVP is heard and hears', async () => {
    await start('srtp-mand');

    const placed = await server.api('POST', '/api/calls/outbound', { agentId, to: NUMBER });
    await baresip.answered();
    const { heard, trace, local } = await talk();
    await baresip.stop();

    expect(placed.status).toBe(202);
    expect(wordsOf(heard, 'user')).toEqual([SENTENCE]);
    expect(voicedMs(baresip.recording())).toBeGreaterThan(800);
    expect(local.packetsReceived).toBeGreaterThan(150);
    // It pings and says goodbye by RTCP in the clear, and its description names another address than its packets have.
    expect(local.packetsRejected).toBeLessThan(20);
    expect(trace).toMatch(/m=audio \d+ RTP\/SAVP /);
    expect(`${trace}${server.output}`).not.toMatch(/inline:/);
  });
});

function voicedMs(pcm: Int16Array): number {
  const frames = Array.from({ length: Math.floor(pcm.length / FRAME_SAMPLES) }, (_, frame) =>
    pcm.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES),
  );
  return frames.filter((frame) => levelDbfs(frame) > -45).length * 20;
}
