/** Calls to an agent as tests of sound place them, by telephone or by browser: one line to speak and listen on either way. */
import { Phone, PhoneError } from '../../../examples/phone/phone.ts';
import type { PhoneLine } from '../../../examples/phone/phone-line.ts';
import { raiseThreadPriority } from '../../../src/media/worker/thread-priority.ts';
import { BrowserPeer } from '../../telephony/support/browser-peer.ts';
import type { SignedIn } from '../dashboard/signed-in.ts';
import type { TestServer } from '../server/server.ts';
import { SipWsClient } from '../sip/sip-ws-client.ts';
import { BrowserLine } from './browser-line.ts';

/** An agent that can be called. */
export interface CalledAgent {
  readonly id: string;
  readonly phoneNumber: string;
}

/** One entry of a call's transcript. */
export interface SaidWords {
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly timestamp: string;
  readonly confidence?: number;
}

/** One answered call. */
export interface AgentCall {
  readonly line: PhoneLine;
  hangUp(): Promise<void>;
  /** As the record has it; waits until every call of the server is over. */
  transcript(): Promise<readonly SaidWords[]>;
}

/** Calls an agent; resolves with the answer. */
export type CallAgent = (agent: CalledAgent) => Promise<AgentCall>;

/**
 * Has the thread that calls it run before others, as the media threads do: a telephone is a device of its own, which is not late
 * because the machine of the server is busy. The process is to do little else from then on.
 */
export async function beOnTime(): Promise<void> {
  await raiseThreadPriority();
}

/** By SIP, to the server's SIP port; each call has a caller's number of its own. */
export function callByTelephone(server: TestServer): CallAgent {
  let placed = 0;
  return ({ phoneNumber }) => {
    placed += 1;
    const number = `+1202556${String(placed).padStart(4, '0')}`;
    const uri = `sip:${phoneNumber}@127.0.0.1:${server.sipPort}`;
    return whenThereIsRoom(server, async () => {
      const phone = new Phone({ number });
      await phone.start();
      try {
        const call = await phone.call(uri);
        const hangUp = () => call.hangUp().finally(() => phone.stop());
        const transcript = () => transcriptOf(server, ({ from }) => from === number);
        return { line: call.line, hangUp, transcript };
      } catch (error) {
        await phone.stop();
        throw error;
      }
    });
  };
}

/** As the dashboard's page does: SIP over a WebSocket, sound by WebRTC. One call is set up after the other. */
export function callByBrowser(server: TestServer, operator: SignedIn): CallAgent {
  let last: Promise<unknown> = Promise.resolve();
  return (agent) => {
    const place = () => placeByBrowser(server, operator, agent);
    const call = last.then(() => whenThereIsRoom(server, place));
    last = call.catch(() => undefined);
    return call;
  };
}

async function placeByBrowser(
  server: TestServer,
  operator: SignedIn,
  { id }: CalledAgent,
): Promise<AgentCall> {
  const ticket = await operator.ticket(id);
  const sip = await SipWsClient.open(ticket.url, server.baseUrl);
  const browser = new BrowserPeer();
  const close = async () => {
    await browser.close();
    sip.close();
  };
  const answer = await sip.invite(ticket.uri, await browser.offer());
  if (answer.status !== 200) {
    await close();
    throw new PhoneError(answer.status);
  }
  await browser.take(answer.body.toString());
  await browser.connected();
  const line = new BrowserLine();
  await line.open(browser);
  const hangUp = async () => {
    await sip.bye();
    await close();
    line.close();
  };
  const callId = answer.get('x-service-call');
  const transcript = () => transcriptOf(server, (record) => record.id === callId);
  return { line: line.phoneLine, hangUp, transcript };
}

const ROOM_MS_MAX = 60_000;
const ROOM_EVERY_MS = 250;

/** Places a call when the server takes calls: a machine with much else to do has it refuse them with 503 for a while. */
async function whenThereIsRoom(
  server: TestServer,
  place: () => Promise<AgentCall>,
): Promise<AgentCall> {
  const deadlineMs = performance.now() + ROOM_MS_MAX;
  for (;;) {
    const response = await fetch(`${server.baseUrl}/readyz`);
    const isLate = performance.now() > deadlineMs;
    if (isLate || (await response.text()).includes('takes new calls')) {
      try {
        return await place();
      } catch (error) {
        const isFull = error instanceof PhoneError && error.sipStatus === 503;
        if (isLate || !isFull) throw error;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, ROOM_EVERY_MS));
  }
}

async function transcriptOf(
  server: TestServer,
  isIt: (record: Record<string, unknown>) => boolean,
): Promise<readonly SaidWords[]> {
  const id = (await server.endedCalls()).find(isIt)?.id;
  const { body } = await server.api('GET', `/api/calls/${id}`);
  return body.transcript as readonly SaidWords[];
}
