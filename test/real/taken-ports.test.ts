/** FreeSWITCH on a machine where other programs have ports of its range: sip-config/freeswitch/freeswitch.xml. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseServers } from '../../src/telephony/trunks/server-list.ts';
import { offer, startRealGateway } from './real-gateway.ts';
import { findPrograms, RTP_PORTS, startRealWorld } from './real-processes.ts';

const programs = findPrograms('ports that others have');

/** Every other port that FreeSWITCH would give to a leg: three calls of four could not do without passing them over. */
async function takePorts(): Promise<readonly Socket[]> {
  const taken: Socket[] = [];
  for (let port = RTP_PORTS.first; port < RTP_PORTS.last; port += 4) {
    const socket = createSocket('udp4');
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    taken.push(socket);
  }
  return taken;
}

describe.skipIf(programs === undefined)('FreeSWITCH on a shared machine', () => {
  test('skips ports that another program uses', { timeout: 60_000 }, async () => {
    if (programs === undefined) return;
    const world = await startRealWorld(programs);
    onTestFinished(() => world.stop());
    const { environment } = world;
    const gateway = await startRealGateway({
      drachtio: parseServers(environment.DRACHTIO_HOST ?? '', 9022),
      freeswitch: parseServers(environment.FREESWITCH_HOST ?? '', 8021),
      drachtioSecret: environment.DRACHTIO_SECRET ?? '',
      freeswitchSecret: environment.FREESWITCH_SECRET ?? '',
    });
    onTestFinished(() => gateway.stop());
    const taken = await takePorts();
    onTestFinished(() => {
      for (const socket of taken) socket.close();
    });

    const ports: string[] = [];
    for (let call = 0; call < 20; call += 1) {
      const remoteSdp = offer('m=audio 4000 RTP/AVP 0 101');
      const endpoint = await gateway.open({ remoteSdp, signallingAddress: '127.0.0.1' });
      ports.push(/^m=audio (\d+)/m.exec(endpoint.localSdp)?.[1] ?? '');
      await endpoint.close();
    }

    expect(ports).toHaveLength(20);
    expect(ports.filter((port) => (Number(port) - RTP_PORTS.first) % 4 === 0)).toEqual([]);
  });
});
