/** The phone in the browser: microphones, the server's tickets, SIP and WebRTC. */
import { SessionDescriptionHandler } from 'sip.js/lib/platform/web/session-description-handler/session-description-handler.js';
import { ApiError } from '../api-error.ts';
import { client, wordsOf } from '../app-state.ts';
import { type BrowserMicrophone, openMicrophone } from './microphone.tsx';
import { Phone, type PhoneTicket, socketAddress } from './phone.ts';
import { GAP_MS, PhoneError, type PhoneState, problemOfTicket, TONE_MS } from './phone-state.ts';
import { type LineMedia, openSipLine } from './sip-line.ts';

export type BrowserPhone = Phone<BrowserMicrophone>;

/** Who is called. */
interface Callee {
  readonly agentId: string;
  /** Whether the agent answers with its draft. */
  readonly isDraft: boolean;
}

/** @param player where the agent is heard. */
export function browserPhone(
  callee: Callee,
  player: HTMLAudioElement,
  onState: (state: PhoneState) => void,
): BrowserPhone {
  return new Phone({
    openMicrophone,
    askTicket: () => askTicket(callee),
    openLine: (ticket, microphone, listener) =>
      openSipLine(ticket, soundOf(microphone, player), listener),
    nowMs: () => Date.now(),
    onState,
  });
}

async function askTicket({ agentId, isDraft }: Callee): Promise<PhoneTicket> {
  try {
    const ticket = await client.phoneTicket(agentId, isDraft);
    return { ...ticket, url: socketAddress(ticket.url, location.href) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new PhoneError(problemOfTicket(error.status, wordsOf(error)), { cause: error });
  }
}

/** Addresses of this machine are there at once; one that takes longer than this is done without. */
const GATHER_MS_MAX = 2000;

/** Time limit for two-way audio after the remote track has arrived. */
const CONNECT_MS_MAX = 12_000;

/** The sound of one call: ICE, DTLS and SRTP are the browser's; SIP carries the descriptions. */
function soundOf(microphone: BrowserMicrophone, player: HTMLAudioElement): LineMedia {
  let handler: SessionDescriptionHandler | undefined;
  let onBroken = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const sender = () => handler?.peerConnection?.getSenders()[0];
  const stateIs = (state: RTCPeerConnectionState) =>
    handler?.peerConnection?.connectionState === state;
  // Comes with the answer.
  const hear = ({ track }: RTCTrackEvent) => {
    player.srcObject = new MediaStream([track]);
    // The reader has pressed a button to call, so browsers let it be heard.
    player.play().catch(() => undefined);
    timer = setTimeout(() => !stateIs('connected') && onBroken(), CONNECT_MS_MAX);
  };
  return {
    factory: (session) => {
      handler = new SessionDescriptionHandler(
        session.userAgent.getLogger('sound'),
        async () => new MediaStream([microphone.track]),
        // No STUN is needed: the browser reaches the server at an address of its own, or the page could not have been loaded.
        { iceGatheringTimeout: GATHER_MS_MAX, peerConnectionConfiguration: { iceServers: [] } },
      );
      handler.peerConnectionDelegate = {
        ontrack: (event) => hear(event as RTCTrackEvent),
        onconnectionstatechange: () => stateIs('failed') && onBroken(),
      };
      microphone.onTrack(async (track) => await sender()?.replaceTrack(track));
      return handler;
    },
    sendTone: (digit) => {
      // An inserted message replaces the one that waits.
      const waiting = sender()?.dtmf?.toneBuffer ?? '';
      const pace = { duration: TONE_MS, interToneGap: GAP_MS };
      return handler?.sendDtmf(`${waiting}${digit}`, pace) ?? false;
    },
    onBroken: (listener) => {
      onBroken = listener;
    },
    close: () => {
      clearTimeout(timer);
      handler?.close();
      player.srcObject = null;
    },
  };
}
