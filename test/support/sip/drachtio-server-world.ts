/** DrachtioServer with the real drachtio-srf on one side and a peer of our own engine on the other. */
import { once } from 'node:events';
import Srf from 'drachtio-srf';
import type { DigestCredentials } from '../../../src/sip/digest.ts';
import {
  DrachtioServer,
  type DrachtioServerOptions,
} from '../../../src/sip/drachtio-server/drachtio-server.ts';
import { UserAgent } from '../../../src/sip/user-agent.ts';
import type { UserAgentOptions } from '../../../src/sip/user-agent-options.ts';

export const SECRET = 'test-secret';

/** A session description that drachtio-srf can put on hold: it looks for `a=sendrecv`. */
export function sdp(port: number): string {
  const lines = [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${port} RTP/AVP 0`,
    'a=sendrecv',
  ];
  return `${lines.join('\r\n')}\r\n`;
}

export interface DrachtioServerWorld {
  readonly drachtioServer: DrachtioServer;
  readonly srf: Srf;

  /** The engine behind the server. */
  readonly server: UserAgent;
  readonly peer: UserAgent;

  /** Calls the server's address with this user part. */
  serverUri(user: string): string;
  peerUri(user: string): string;

  /** Disconnects drachtio-srf. */
  leave(): void;
  stop(): Promise<void>;
}

export interface DrachtioServerWorldOptions
  extends Pick<DrachtioServerOptions, 'clock' | 'credentialsFor'> {
  /** Put on before drachtio-srf logs in. */
  readonly routes?: (srf: Srf) => void;

  /** Options of both user agents, without their listen addresses. */
  readonly engine?: Omit<UserAgentOptions, 'listen'>;

  /** Of the peer, where it is another than the server's. */
  readonly peerEngine?: Omit<UserAgentOptions, 'listen'>;
}

/** Opens two user agents, DrachtioServer and drachtio-srf, and waits until it is logged in. */
export async function openDrachtioServerWorld(
  options: DrachtioServerWorldOptions = {},
): Promise<DrachtioServerWorld> {
  const listen = (['UDP', 'TCP'] as const).map((protocol) => ({
    protocol,
    address: '127.0.0.1',
    port: 0,
  }));
  const server = new UserAgent({ ...options.engine, listen });
  const peer = new UserAgent({ ...(options.peerEngine ?? options.engine), listen });
  await Promise.all([server.start(), peer.start()]);
  const { clock, credentialsFor } = options;
  const drachtioServer = new DrachtioServer({
    userAgent: server,
    secret: SECRET,
    port: 0,
    ...(clock !== undefined && { clock }),
    ...(credentialsFor !== undefined && { credentialsFor }),
  });
  await drachtioServer.start();
  const srf = await connectSrf(drachtioServer, options.routes);
  const uriOf = (userAgent: UserAgent) => (user: string) =>
    `sip:${user}@127.0.0.1:${userAgent.addresses[0]?.port}`;
  let isConnected = true;
  const leave = () => {
    if (isConnected) srf.disconnect();
    isConnected = false;
  };
  return {
    drachtioServer,
    srf,
    leave,
    server,
    peer,
    serverUri: uriOf(server),
    peerUri: uriOf(peer),
    stop: async () => {
      leave();
      await drachtioServer.stop();
      await Promise.all([server.stop(), peer.stop()]);
    },
  };
}

/** Logs a drachtio-srf in, its routes already put on. */
export async function connectSrf(
  drachtioServer: DrachtioServer,
  routes: (srf: Srf) => void = () => undefined,
): Promise<Srf> {
  const srf = new Srf();
  srf.on('error', () => undefined);
  routes(srf);
  void srf.connect({ host: '127.0.0.1', port: drachtioServer.port, secret: SECRET });
  const [error] = await once(srf, 'connect');
  if (error) throw error;
  return srf;
}

/** Always the same user and password, and the realms that asked. */
export function rememberingCredentials(credentials: DigestCredentials): {
  readonly realms: string[];
  readonly credentialsFor: NonNullable<DrachtioServerOptions['credentialsFor']>;
} {
  const realms: string[] = [];
  return {
    realms,
    credentialsFor: (realm) => {
      realms.push(realm);
      return credentials;
    },
  };
}
