/** The embedded plane for tests: SIP engine, drachtio's protocol in front of it, and media of our own. */
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { MediaEngine } from '../../src/media/engine/media-engine.ts';
import { DrachtioServer } from '../../src/sip/drachtio-server/drachtio-server.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';
import { DirectGateway, type StartedEngine } from '../../src/telephony/direct/direct-gateway.ts';
import {
  DrachtioCarrier,
  type DrachtioCarrierOptions,
} from '../../src/telephony/drachtio/carrier/drachtio-carrier.ts';
import type { OpenDialogJournal } from '../../src/telephony/drachtio/carrier/open-dialog-journal.ts';
import { credentialsOf } from '../../src/telephony/trunks/trunk-table.ts';
import type { Trunk } from '../../src/telephony/trunks/trunks.ts';
import { freePort } from '../support/network/free-ports.ts';
import { type Plane, Rings, type StartPlane } from './plane.ts';
import { SilentLines } from './silent-lines.ts';

const SECRET = 'only for tests';
const PARTS = { clock: systemClock, log: silentLogger, logger: silentLogger };

/** A plane whose trunks can change. */
export interface EmbeddedPlane extends Plane {
  readonly carrier: DrachtioCarrier;
}

/** With the media engine's real ports and threads. */
export const startEmbeddedPlane: StartPlane = (trunks) => {
  const ports = { first: 18_200, last: 18_399 };
  return start(
    trunks,
    new MediaEngine({ ...PARTS, ports, workers: 1, drainMs: 0, isRealTime: false }),
  );
};

/** Signalling alone: starts in no time, and nothing is ever heard. */
export const startSilentPlane = (
  trunks: readonly Trunk[],
  journal?: OpenDialogJournal,
  onText?: DrachtioCarrierOptions['onText'],
): Promise<EmbeddedPlane> => start(trunks, new SilentLines(), { journal, onText });

interface Ties {
  readonly journal?: OpenDialogJournal | undefined;
  readonly onText?: DrachtioCarrierOptions['onText'] | undefined;
}

async function start(
  trunks: readonly Trunk[],
  lines: StartedEngine,
  { journal, onText }: Ties = {},
): Promise<EmbeddedPlane> {
  const address = '127.0.0.1';
  const port = await freePort();
  const engine = new UserAgent({
    ...PARTS,
    listen: [
      { protocol: 'UDP', address, port },
      { protocol: 'TCP', address, port },
    ],
  });
  const media = new DirectGateway({ engine: lines });
  const drachtioServer = new DrachtioServer({
    ...PARTS,
    userAgent: engine,
    secret: SECRET,
    port: 0,
    credentialsFor: credentialsOf(trunks),
  });
  await Promise.all([media.start(), engine.start()]);
  await drachtioServer.start();
  const carrier = new DrachtioCarrier({
    ...PARTS,
    host: '127.0.0.1',
    port: drachtioServer.port,
    secret: SECRET,
    trunks,
    media,
    ...(journal && { journal }),
    ...(onText && { onText }),
  });
  const rings = new Rings();
  await carrier.start(rings.take);
  return {
    carrier,
    rings,
    hostPort: `${address}:${port}`,
    stop: async () => {
      await carrier.stop();
      await drachtioServer.stop();
      await engine.stop();
      await media.stop();
    },
  };
}
