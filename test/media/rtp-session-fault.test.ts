import { expect, test } from 'vitest';
import { encodeG711 } from '../../src/media/dsp/g711.ts';
import { LevelMeter } from '../../src/media/dsp/level-meter.ts';
import { RtpSession } from '../../src/media/rtp-session/rtp-session.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { Pacer } from '../../src/media/worker/pacer.ts';
import { writeRtp } from '../../src/rtp/packet.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { AGREED, FAR_END, VOICE } from './test-session.ts';

test('RtpSession reports a fault that a datagram caused, and keeps it from the other sessions', () => {
  const clock = new FakeClock(1_000_000);
  const faults: unknown[] = [];
  const fault = new Error('of ours');
  const session = new RtpSession({
    ...{
      heard: new ReceiveRing(),
      meter: new LevelMeter(),
      trusted: { signallingAddress: FAR_END.address },
    },
    pacer: new Pacer({ clock, onFault: () => undefined }),
    nextUint32: () => 7,
    network: { sendRtp: () => undefined, sendRtcp: () => undefined },
    emit: ({ kind }) => {
      if (kind === 'voice-started') throw fault;
    },
    onFault: (error) => faults.push(error),
  });
  session.setRemote(AGREED, clock.nowMs());

  for (let sequence = 0; sequence < 4; sequence += 1) {
    const payload = encodeG711('PCMU', VOICE);
    const datagram = writeRtp({
      ...{ payloadType: 0, hasMarker: false, ssrc: 9, sequence },
      ...{ timestamp: sequence * 160, payload },
    });
    session.onDatagram(datagram, FAR_END, clock.nowMs());
  }

  expect(faults).toEqual([fault]);
});
