/** Answers every call through drachtio-srf, as the server does, but with no sound behind it: for `bench/sip-cps.ts`. */
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/lib/logger.ts';
import type { AudioStream, MediaSession } from '../../src/media/audio-stream.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { DrachtioServer } from '../../src/sip/drachtio-server/drachtio-server.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import type { IncomingCall } from '../../src/telephony/carrier.ts';
import { DrachtioCarrier } from '../../src/telephony/drachtio/carrier/drachtio-carrier.ts';
import type { MediaEndpoint, MediaGateway } from '../../src/telephony/media-gateway.ts';

/** Who calls this number, hears it ring and nothing more: for calls that are given up. */
const RINGING_NUMBER = 'ring';

const SECRET = 'bench';

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 15999 RTP/AVP 0',
  '',
].join('\r\n');

const nothing = () => undefined;

const audio: AudioStream = {
  heard: new ReceiveRing(),
  ...{ onEvent: nothing, begin: nothing, say: nothing, finish: nothing, drop: nothing },
  ...{ resume: nothing, setPauseAfter: nothing, setPrivate: nothing },
  ...{ sendDigits: nothing },
  stats: async () => ({
    ...{ packetsReceived: 0, packetsSent: 0, packetsLost: 0, packetsRejected: 0, jitterMs: 0 },
  }),
};

const line: MediaSession = {
  ...{ ...audio, localPort: 15_999, localAddress: '127.0.0.1', setRemote: nothing },
  ...{ record: nothing, setBackground: nothing, feedFrom: nothing, mixWith: nothing },
  ...{ confirm: () => undefined, hasArrived: false, close: async () => undefined },
};

const endpoint: MediaEndpoint = {
  ...{ audio, session: line, localSdp: SDP, offer: () => SDP, negotiate: async () => SDP },
  ...{ prepareMove: () => async () => undefined, record: nothing, close: async () => undefined },
};

const media: MediaGateway = {
  start: async () => undefined,
  stop: async () => undefined,
  open: async () => endpoint,
};

const [port = '0'] = process.argv.slice(2);
const userAgent = new UserAgent({
  listen: [
    { protocol: 'UDP', address: '127.0.0.1', port: Number(port) },
    { protocol: 'TCP', address: '127.0.0.1', port: Number(port) },
  ],
  // Two a call for 32 seconds: enough for the highest rate of the bench.
  transactionsMax: 500_000,
});
const credentialsFor = () => undefined;
const front = new DrachtioServer({
  ...{ userAgent, secret: SECRET, port: 0, credentialsFor, clock, logger: log },
});
await userAgent.start();
await front.start();
const carrier = new DrachtioCarrier({
  ...{ host: '127.0.0.1', port: front.port, secret: SECRET, trunks: [], media, clock, log },
});

function take(call: IncomingCall): void {
  call.ring();
  if (call.to !== RINGING_NUMBER) call.answer().catch(nothing);
}

await carrier.start(take);
console.log('listening');
process.stdin.on('end', () => process.exit(0)).resume();
