import { expect, test } from 'vitest';
import { LocalRoutes } from '../../src/lib/local-routes.ts';
import { DirectGateway } from '../../src/telephony/direct/direct-gateway.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { SilentLines } from './silent-lines.ts';

function sdp(lines: readonly string[]): string {
  const session = ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0'];
  return `${[...session, ...lines].join('\r\n')}\r\n`;
}

const BOTH = sdp(['m=audio 4000 RTP/AVP 8 0 96', 'a=rtpmap:96 telephone-event/8000']);
const HOLD = sdp(['m=audio 4000 RTP/AVP 8 0', 'a=sendonly']);
const signallingAddress = '192.0.2.1';

/** The part of a description that tells whether it has changed: version of the o-line, and the lines of the stream. */
function essence(text: string): string[] {
  const lines = text.split('\r\n');
  const version = lines.find((line) => line.startsWith('o='))?.split(' ')[2] ?? '';
  return [version, ...lines.filter((line) => /^(m=|a=(send|recv|inactive))/.test(line))];
}

test('DirectGateway answers an offer with its first codec and tells the line', async () => {
  const engine = new SilentLines();

  const endpoint = await new DirectGateway({ engine }).open({ remoteSdp: BOTH, signallingAddress });

  expect(essence(endpoint.localSdp)).toEqual(['1', 'm=audio 40000 RTP/AVP 8 96', 'a=sendrecv']);
  expect(engine.opened[0]?.remotes).toMatchObject([
    { address: '192.0.2.1', port: 4000, codec: 'PCMA', telephoneEventPayloadType: 96 },
  ]);
});

test('DirectGateway offers where nothing was offered, and takes the answer', async () => {
  const engine = new SilentLines();
  const endpoint = await new DirectGateway({ engine }).open({ signallingAddress });
  const offer = endpoint.localSdp;

  await endpoint.negotiate(BOTH);

  expect(essence(offer)).toEqual(['1', 'm=audio 40000 RTP/AVP 0 8 101', 'a=sendrecv']);
  expect(endpoint.localSdp).toBe(offer);
  expect(engine.opened[0]?.remotes).toHaveLength(1);
});

test('DirectEndpoint counts the versions of its description, and only the changes', async () => {
  const engine = new SilentLines();
  const endpoint = await new DirectGateway({ engine }).open({ remoteSdp: BOTH, signallingAddress });

  const again = await endpoint.negotiate(BOTH);
  const held = await endpoint.negotiate(HOLD);
  const offer = endpoint.offer();

  expect([again, held, offer].map((text) => essence(text).at(0))).toEqual(['1', '2', '3']);
  expect(essence(held)).toContain('a=recvonly');
  expect(essence(offer)).toContain('a=sendrecv');
});

test('DirectGateway keeps to the codecs that it is given', async () => {
  const gateway = new DirectGateway({ engine: new SilentLines() });

  const offering = await gateway.open({ signallingAddress, codecs: ['PCMA'] });
  const answering = await gateway.open({ remoteSdp: BOTH, signallingAddress, codecs: ['PCMU'] });

  expect(offering.localSdp).toContain('m=audio 40000 RTP/AVP 8 101\r\n');
  expect(offering.localSdp).not.toContain('PCMU');
  expect(answering.localSdp).toContain('m=audio 40000 RTP/AVP 0 96\r\n');
});

test('DirectGateway chooses from an offer by the order of its codecs, and from an answer by that of the far end', async () => {
  const gateway = new DirectGateway({ engine: new SilentLines() });
  const codecs = ['G722', 'PCMA'] as const;
  const remoteSdp = sdp(['m=audio 4000 RTP/AVP 8 9']);

  const answering = await gateway.open({ remoteSdp, signallingAddress, codecs });
  const engine = new SilentLines();
  const offering = await new DirectGateway({ engine }).open({ signallingAddress, codecs });
  const offer = offering.localSdp;
  await offering.negotiate(remoteSdp);

  expect(answering.localSdp).toContain('m=audio 40000 RTP/AVP 9\r\na=rtpmap:9 G722/8000\r\n');
  expect(offer).toContain('m=audio 40000 RTP/AVP 9 8 101\r\n');
  expect(engine.opened[0]?.remotes).toMatchObject([{ codec: 'PCMA' }]);
});

test('DirectGateway follows a change of the codec in mid-call', async () => {
  const engine = new SilentLines();
  const codecs = ['PCMU', 'opus'] as const;
  const opus = sdp(['m=audio 4000 RTP/AVP 96', 'a=rtpmap:96 opus/48000/2']);

  const endpoint = await new DirectGateway({ engine }).open({
    ...{ remoteSdp: BOTH, signallingAddress, codecs: [...codecs] },
  });
  const changed = await endpoint.negotiate(opus);

  expect(changed).toContain('a=rtpmap:96 opus/48000/2\r\n');
  expect(engine.opened[0]?.remotes).toMatchObject([{ codec: 'PCMU' }, { codec: 'opus' }]);
});

test('DirectGateway tells the far end another address than the line is bound to, in every description', async () => {
  const advertisedAddress = '203.0.113.9';
  const options = { remoteSdp: BOTH, signallingAddress, advertisedAddress };

  const endpoint = await new DirectGateway({ engine: new SilentLines() }).open(options);
  const descriptions = [endpoint.localSdp, await endpoint.negotiate(HOLD), endpoint.offer()];

  for (const description of descriptions) {
    expect(description).toContain('c=IN IP4 203.0.113.9\r\n');
    expect(description).toMatch(/^o=- \d+ \d+ IN IP4 203\.0\.113\.9\r$/m);
  }
});

test('DirectGateway never describes a wildcard: a line on all addresses has the one towards the far end', async () => {
  const engine = new SilentLines();
  const ask = (farEnd: string) => (farEnd === signallingAddress ? '10.0.0.5' : '10.9.9.9');
  const routes = new LocalRoutes({ clock: new FakeClock(), ask });
  engine.localAddress = '0.0.0.0';

  const endpoint = await new DirectGateway({ engine, routes }).open({ signallingAddress });

  expect(endpoint.localSdp).toContain('c=IN IP4 10.0.0.5\r\n');
  expect(endpoint.localSdp).not.toContain('0.0.0.0');
});

test.each([
  ['no SDP', 'nonsense', 400],
  ['no common codec', sdp(['m=audio 4000 RTP/AVP 18']), 488],
  ['no audio', sdp(['m=video 4000 RTP/AVP 99', 'a=rtpmap:99 VP8/90000']), 488],
])('DirectGateway refuses %s and opens no line', async (_, remoteSdp, sipStatus) => {
  const engine = new SilentLines();

  const opened = new DirectGateway({ engine }).open({ remoteSdp, signallingAddress });

  await expect(opened).rejects.toMatchObject({ name: 'MediaError', sipStatus });
  expect(engine.opened).toEqual([]);
});

test('DirectGateway names the codecs of an offer that it refuses', async () => {
  const remoteSdp = sdp(['m=audio 4000 RTP/AVP 18 3']);

  const opened = new DirectGateway({ engine: new SilentLines() }).open({
    ...{ remoteSdp, signallingAddress },
    codecs: ['opus', 'PCMA'],
  });

  await expect(opened).rejects.toThrow('usable is opus or PCMA; it has G729, GSM');
});

test('DirectGateway says 503 when no line is free', async () => {
  const engine = new SilentLines();
  engine.open = () => Promise.reject(new Error('Cannot open a line: no port is free'));

  const opened = new DirectGateway({ engine }).open({ signallingAddress });

  await expect(opened).rejects.toMatchObject({ sipStatus: 503 });
});
