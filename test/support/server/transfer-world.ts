/** A server whose trunk leads to a colleague's telephone, and a caller: for transfers by a second call. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Phone, type RingingCall } from '../../../examples/phone/phone.ts';
import type { PhoneCall } from '../../../examples/phone/phone-call.ts';
import { freePort } from '../network/free-ports.ts';
import { startServer, type TestServer } from './server.ts';

/** Ours, and the colleague's. */
export const NUMBER = '+12025550123';
export const COLLEAGUE = '+12025550177';

/** A server, the two telephones, and the folder that survives the server. */
export interface TransferWorld {
  readonly server: TestServer;
  readonly caller: Phone;
  readonly colleague: Phone;
  readonly folder: string;
  /** The next call that the colleague's telephone rings for. */
  ringing(): Promise<RingingCall>;
  /** Calls our number. @returns the call and its id. */
  call(): Promise<{ readonly call: PhoneCall; readonly id: string }>;
  /** Calls, and has the call transferred by REST, which the colleague answers. */
  bridged(wish?: Readonly<Record<string, unknown>>): Promise<{
    readonly call: PhoneCall;
    readonly theirs: PhoneCall;
    readonly id: string;
  }>;
  /** Kinds of the timeline of a call. */
  kindsOf(id: string): Promise<string[]>;
  /** Starts another server with the data of this one. */
  restart(): Promise<TestServer>;
}

/** @param script rule book of the agents. @param settings of the environment. @param fields of the trunk. */
export async function openTransferWorld(
  script: object,
  settings: Readonly<Record<string, string>> = {},
  fields: object = {},
): Promise<TransferWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-transfer-'));
  const [caller, colleague] = [new Phone(), new Phone({ number: COLLEAGUE })];
  await Promise.all([caller.start(), colleague.start()]);
  const SIP_TRUNKS = join(folder, 'trunks.json');
  const proxy = colleague.hostPort();
  const trunk = { name: 'office', proxy, numbers: [NUMBER], allowedSources: ['127.0.0.1'] };
  writeFileSync(SIP_TRUNKS, JSON.stringify([{ ...trunk, ...fields }]));
  const SCRIPT_FILE = join(folder, 'script.json');
  writeFileSync(SCRIPT_FILE, JSON.stringify(script));
  const files = { SIP_TRUNKS, SCRIPT_FILE, SIP_PORT: String(await freePort()) };
  const environment = { ...files, DRAIN_TIMEOUT_SECONDS: '20', ...settings };
  const dataDir = join(folder, 'data');
  const start = async () => (await startServer({ dataDir, environment })).ready();
  const servers = [await start()];
  const [server] = servers as [TestServer];
  onTestFinished(async () => {
    await Promise.all(servers.map((each) => each.stop()));
    await Promise.all([caller.stop(), colleague.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const ringing = () => new Promise<RingingCall>((resolve) => colleague.onRinging(resolve));
  const call = async () => {
    const answered = await caller.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
    return { call: answered, id: await server.callInProgress() };
  };
  const kindsOf = async (id: string) => {
    const events = await servers.at(-1)?.api('GET', `/api/calls/${id}/events`);
    return (events?.body.data as readonly { kind: string }[]).map(({ kind }) => kind);
  };
  return {
    ...{ server, caller, colleague, folder, ringing, call, kindsOf },
    bridged: async (wish = {}) => {
      const rings = ringing();
      const begun = await call();
      await server.api('POST', `/api/calls/${begun.id}/transfer`, { to: COLLEAGUE, ...wish });
      const theirs = await (await rings).answer();
      return { ...begun, theirs };
    },
    restart: async () => {
      const next = await start();
      servers.push(next);
      return next;
    },
  };
}
