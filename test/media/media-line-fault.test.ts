import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/g711.ts';
import { HeardRing } from '../../src/media/heard-ring.ts';
import { LevelMeter } from '../../src/media/level-meter.ts';
import { MediaLine } from '../../src/media/media-line.ts';
import { SendWheel } from '../../src/media/send-wheel.ts';
import { writeRtp } from '../../src/rtp/packet.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { AGREED, FAR_END, VOICE } from './test-line.ts';

test('MediaLine tells of a fault that a datagram led to, and lets nobody beside it have it', () => {
  const clock = new FakeClock(1_000_000);
  const faults: unknown[] = [];
  const fault = new Error('of ours');
  const line = new MediaLine({
    ...{
      heard: new HeardRing(),
      meter: new LevelMeter(),
      trusted: { signallingAddress: FAR_END.address },
    },
    wheel: new SendWheel({ clock, onFault: () => undefined }),
    nextUint32: () => 7,
    network: { sendRtp: () => undefined, sendRtcp: () => undefined },
    emit: ({ kind }) => {
      if (kind === 'voice-started') throw fault;
    },
    onFault: (error) => faults.push(error),
  });
  line.setRemote(AGREED, clock.nowMs());

  for (let sequence = 0; sequence < 4; sequence += 1) {
    const payload = encodeG711('PCMU', VOICE);
    const datagram = writeRtp({
      ...{ payloadType: 0, hasMarker: false, ssrc: 9, sequence },
      ...{ timestamp: sequence * 160, payload },
    });
    line.onDatagram(datagram, FAR_END, clock.nowMs());
  }

  expect(faults).toEqual([fault]);
});
