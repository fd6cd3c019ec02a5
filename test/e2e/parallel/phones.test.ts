/** Telephones that register with a password and call agents: our own, sipp, baresip and linphonec. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { DigestClient } from '../../../src/sip/digest.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { whyNoNatNetwork } from '../../support/network/nat-network.ts';
import { NetworkNamespace } from '../../support/network/network-namespace.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { Baresip } from '../../support/sip/baresip.ts';

const NUMBER = '+12025550123';
const PASSWORD = 'secret of the desk';
const PLAIN_PASSWORD = 'secret-of-the-lab';

/** Loopback is no trunk's: only telephones are served there. */
const TRUNK = {
  ...{ name: 'acme', proxy: '192.0.2.1', allowedSources: ['192.0.2.1'] },
  optionsIntervalSeconds: 0,
};

const folder = mkdtempSync(join(tmpdir(), 'offhook-phones-'));
let server: TestServer;
let agentId: string;

function file(name: string, content: unknown): string {
  writeFileSync(join(folder, name), JSON.stringify(content));
  return join(folder, name);
}

/** A server with the telephones, and an agent that has the number. */
async function serveTelephones(
  carriers: Readonly<Record<string, string>>,
): Promise<{ readonly server: TestServer; readonly agentId: string }> {
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const first = await (await startServer({ dataDir, environment: carriers })).ready();
  const agentId = await first.createAgent({ phoneNumber: NUMBER });
  await first.stop();
  const SIP_PHONES = file('phones.json', [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the server puts the variable in
    { name: 'desk', password: '${DESK_PASSWORD}', extension: '101', agent: agentId },
    { name: 'lab', password: PLAIN_PASSWORD },
    { name: 'safe', password: PLAIN_PASSWORD, algorithm: 'SHA-256' },
    { name: 'far', password: PLAIN_PASSWORD, allowedSources: ['198.51.100.0/24'] },
  ]);
  const environment = { ...carriers, SIP_PHONES, DESK_PASSWORD: PASSWORD };
  return { server: await (await startServer({ dataDir, environment })).ready(), agentId };
}

beforeAll(async () => {
  const SIP_TRUNKS = file('trunks.json', [TRUNK]);
  ({ server, agentId } = await serveTelephones({ SIP_TRUNKS }));
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Rings as a telephone; resolves with the final status, or once the call is up and over. */
async function ring(
  name: string,
  password: string,
  called = NUMBER,
  { sipPort }: Pick<TestServer, 'sipPort'> = server,
): Promise<number> {
  const phone = new Phone({ number: name });
  await phone.start();
  onTestFinished(() => phone.stop());
  const digest = new DigestClient({ credentialsFor: () => ({ username: name, password }) });
  const uri = `sip:${called}@127.0.0.1:${sipPort}`;
  const { answered, invite } = await phone.dial(uri, { digest });
  const call = await answered.catch(() => undefined);
  await call?.hangUp();
  return (await invite.outcome).response.status;
}

async function newestCall(): Promise<Record<string, unknown> | undefined> {
  return (await server.endedCalls())[0] as unknown as Record<string, unknown>;
}

test('a telephone calls an agent with its password, from its extension', async () => {
  expect(await ring('desk', PASSWORD)).toBe(200);

  expect(await newestCall()).toMatchObject({ from: '101', to: NUMBER, agentId });
});

test('a telephone reaches its agent by any number, and another that has none reaches nothing there', async () => {
  expect(await ring('desk', PASSWORD, '100')).toBe(200);
  expect(await ring('lab', PLAIN_PASSWORD, '100')).toBe(404);
});

test('a telephone on a machine without a trunk is served by its agent, with its password alone', async () => {
  const { server: alone } = await serveTelephones({ SIP_TRUNKS: file('none.json', []) });
  onTestFinished(() => alone.stop());

  const byName = await ring('desk', PASSWORD, '100', alone);
  const guessed = await ring('desk', 'a guess at it', '100', alone);
  const other = await ring('+12025550199', PASSWORD, NUMBER, alone);

  expect([byName, guessed, other]).toEqual([200, 403, 200]);
  const calls = (await alone.endedCalls()) as unknown as readonly { readonly from: string }[];
  expect(calls.map(({ from }) => from)).toContain('101');
});

test('a telephone with SHA-256 is challenged with it', async () => {
  expect(await ring('safe', PLAIN_PASSWORD)).toBe(200);
});

test('a source that only asks for challenges gets forty in ten seconds, and then no answer', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.9');
  await once(socket, 'listening');
  onTestFinished(() => {
    socket.close();
  });
  const statuses: string[] = [];
  socket.on('message', (bytes) => statuses.push(bytes.toString('latin1', 8, 11)));
  const us = `127.0.0.9:${socket.address().port}`;
  const registerOf = (index: number) =>
    [
      `REGISTER sip:127.0.0.1:${server.sipPort} SIP/2.0`,
      `Via: SIP/2.0/UDP ${us};branch=z9hG4bK${index}`,
      ...[
        `From: <sip:desk@127.0.0.1>;tag=1`,
        `To: <sip:desk@127.0.0.1>`,
        `Call-ID: ${index}@${us}`,
      ],
      ...['CSeq: 1 REGISTER', 'Max-Forwards: 70', 'Content-Length: 0', '', ''],
    ].join('\r\n');

  for (let index = 0; index < 60; index += 1) {
    socket.send(registerOf(index), server.sipPort, '127.0.0.1');
    // One after the other: those of one moment are let in before any is counted.
    await wait(20);
  }
  await wait(1000);

  expect(new Set(statuses)).toEqual(new Set(['401']));
  expect(statuses).toHaveLength(40);
});

describeWith(['sipp'], 'sipp as a telephone', () => {
  const register = async (name: string, password: string) => {
    const scenario = join(import.meta.dirname, '../../support/sip/sipp-register.xml');
    const sipp = spawn(
      'sipp',
      [
        ...['-sf', scenario, `127.0.0.1:${server.sipPort}`, '-i', '127.0.0.1', '-s', name],
        ...['-au', name, '-ap', password, '-m', '1', '-p', String(await freePort())],
        ...['-nostdin', '-timeout', '15s', '-timeout_error'],
      ],
      { cwd: folder, stdio: 'ignore' },
    );
    return new Promise<number | null>((resolve) => sipp.on('close', resolve));
  };

  test('registers with its password, and not with another', async () => {
    expect(await register('lab', PLAIN_PASSWORD)).toBe(0);
    expect(await register('lab', 'some other password')).not.toBe(0);
    expect(server.output).toContain('telephone registered');
    expect(server.output).not.toContain(PLAIN_PASSWORD);
  });

  test('does not register from elsewhere than its settings allow', async () => {
    expect(await register('far', PLAIN_PASSWORD)).not.toBe(0);
  });
});

describeWith(['baresip'], 'baresip as a telephone', () => {
  test('registers, calls, and hangs up', async () => {
    const registrar = `127.0.0.1:${server.sipPort}`;
    const baresip = await Baresip.register('lab', PLAIN_PASSWORD, registrar);
    onTestFinished(() => baresip.remove());

    await baresip.dial(`sip:${NUMBER}@${registrar}`);
    await baresip.hangUp();

    expect(await newestCall()).toMatchObject({ from: 'lab', to: NUMBER, status: 'completed' });
  });
});

const ADDRESS = '10.9.1.5';
const reason = whyNoNatNetwork(['linphonec']);
if (reason !== undefined) process.stderr.write(`skipped: ${reason} (linphonec as a telephone)\n`);

describe.skipIf(reason !== undefined)('linphonec as a telephone', () => {
  test('registers, calls, and hangs up', { timeout: 60_000 }, async () => {
    const namespace = new NetworkNamespace('phones');
    namespace.run('ip', 'link', 'add', 'out0', 'type', 'veth', 'peer', 'name', 'nowhere0');
    namespace.run('ip', 'address', 'add', `${ADDRESS}/24`, 'dev', 'out0');
    for (const end of ['out0', 'nowhere0']) namespace.run('ip', 'link', 'set', end, 'up');
    // Without a default route it registers nowhere.
    namespace.run('ip', 'route', 'add', 'default', 'via', '10.9.1.1');
    const SIP_PHONES = file('linphone.json', [{ name: 'lab', password: PLAIN_PASSWORD }]);
    const SIP_TRUNKS = file('trunks.json', [TRUNK]);
    const environment = { SIP_HOST: ADDRESS, SIP_PHONES, SIP_TRUNKS };
    const theirs = await (await startServer({ namespace, environment })).ready();
    await theirs.createAgent({ phoneNumber: NUMBER });
    const home = mkdtempSync(join(folder, 'linphone-'));
    // It registers nowhere, without a word about it, where it cannot open its database.
    mkdirSync(join(home, '.local/share/linphone'), { recursive: true });
    const registrar = `${ADDRESS}:${theirs.sipPort}`;
    const config = [
      ...['[sip]', 'sip_port=5070', 'sip_tcp_port=-1', 'sip_tls_port=-1', 'guess_hostname=1'],
      ...['default_proxy=0', '[proxy_0]', `reg_proxy=<sip:${registrar}>`],
      ...[`reg_identity=sip:lab@${ADDRESS}`, 'reg_expires=120', 'reg_sendregister=1'],
      ...['[auth_info_0]', 'username=lab', `passwd=${PLAIN_PASSWORD}`, 'realm=offhook', ''],
    ];
    writeFileSync(join(home, 'linphonerc'), config.join('\n'));
    const linphone = namespace.start(['linphonec', '-c', join(home, 'linphonerc')], {
      environment: { HOME: home },
    });
    onTestFinished(async () => {
      linphone.kill('SIGKILL');
      await theirs.stop();
      await namespace.close();
    });

    const soon = { timeout: 20_000 };
    await expect.poll(() => theirs.output, soon).toContain('telephone registered');
    linphone.stdin?.write(`call sip:${NUMBER}@${registrar}\n`);
    const id = await theirs.callInProgress();
    linphone.stdin?.write('terminate\n');
    const [call] = await theirs.endedCalls();

    expect(call).toMatchObject({ id, from: 'lab', endReason: 'user_hangup' });
  });
});
