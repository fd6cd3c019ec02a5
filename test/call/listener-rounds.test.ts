import { expect, test } from 'vitest';
import type { CallInProgress } from '../../src/call/call-registry.ts';
import { CallSound } from '../../src/call/live-calls.ts';
import type { SoundListener } from '../../src/domain/call/live-sound.ts';
import { readWavHeader } from '../../src/media/recording/wav-file.ts';
import { ReceiveRing } from '../../src/media/sound-rings.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { ScriptedAudio } from './support/scripted-party.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const frame = (sample: number) => new Int16Array(160).fill(sample);

/** A call both of whose sides are the test's to play. */
function callOf(callId: string) {
  const played = new ReceiveRing();
  const tap = {
    isOpen: false,
    open: () => {
      tap.isOpen = true;
      return played;
    },
    close: () => {
      tap.isOpen = false;
    },
  };
  const audio = Object.assign(new ScriptedAudio(), { tap });
  return { callId, scope: SCOPE, audio, tap, played, transfer: () => 'not-in-progress' as const };
}

function openSound(...calls: CallInProgress[]) {
  const clock = new FakeClock(1_000_000);
  const inProgress = [...calls];
  const sound = new CallSound({ clock, inProgress: () => inProgress });
  /** One who listens, with what was heard. */
  const listen = (callId = 'call_1') => {
    const heard: Uint8Array[] = [];
    let overs = 0;
    const listener: SoundListener = {
      onSound: (pcm) => heard.push(pcm),
      onOver: () => {
        overs += 1;
      },
    };
    const listening = sound.listen(callId, listener);
    const samples = () => {
      const bytes = Buffer.concat(heard);
      return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
    };
    const side = (channel: number) => samples().filter((_, index) => index % 2 === channel);
    const stop = () => {
      if (listening.kind === 'begun') listening.stop();
    };
    return { listening, heard, side, stop, overs: () => overs };
  };
  return { clock, inProgress, sound, listen };
}

/** Both sides sound for 20 ms, which go by. */
function sounds(clock: FakeClock, call: ReturnType<typeof callOf>, of = { caller: 7, agent: 9 }) {
  clock.advance(20);
  call.audio.heard.write(frame(of.caller), clock.nowMs());
  call.played.write(frame(of.agent), clock.nowMs());
}

test('CallSound gives both sides of a call, caller left and agent right, from now on', () => {
  const call = callOf('call_1');
  const { clock, listen } = openSound(call);
  call.audio.heard.write(frame(-1), clock.nowMs());

  const listener = listen();
  for (let frames = 0; frames < 50; frames += 1) sounds(clock, call);

  expect(listener.side(0)).toEqual(new Int16Array(listener.side(0).length).fill(7));
  expect(listener.side(1)).toEqual(new Int16Array(listener.side(1).length).fill(9));
  expect(listener.side(0).length).toBe(8 * (1000 - 120));
});

test('CallSound sends chunks of about 100 ms, in silence too', () => {
  const { clock, listen } = openSound(callOf('call_1'));

  const listener = listen();
  clock.advance(2000);

  const lengths = listener.heard.map(({ byteLength }) => byteLength);
  expect(lengths.slice(1)).toEqual(Array.from({ length: 18 }, () => 3200));
  expect(listener.side(0).every((sample) => sample === 0)).toBe(true);
});

test('CallSound begins with the header of a WAV without an end', () => {
  const { listen } = openSound(callOf('call_1'));

  const { listening } = listen();

  const header = listening.kind === 'begun' ? Buffer.from(listening.header) : Buffer.alloc(0);
  expect(readWavHeader(header)).toEqual({ channels: 2, rateHz: 8000, dataBytes: 0xffff_ffff });
  expect(header.readUInt32LE(4)).toBe(0xffff_ffff);
});

test('CallSound taps a call once for all who listen, and no longer than they do', () => {
  const call = callOf('call_1');
  const { clock, listen } = openSound(call);
  const [first, second] = [listen(), listen()];

  sounds(clock, call);
  clock.advance(980);
  first.stop();
  first.stop();
  const isOpenForOne = call.tap.isOpen;
  second.stop();
  clock.advance(1000);

  expect(isOpenForOne).toBe(true);
  expect(call.tap.isOpen).toBe(false);
  expect(first.heard).toEqual(second.heard);
  expect(Buffer.concat(first.heard).length).toBeGreaterThan(25_000);
  expect([first.overs(), second.overs()]).toEqual([0, 0]);
});

test('CallSound tells those who listen when the call is over', () => {
  const { clock, inProgress, listen } = openSound(callOf('call_1'), callOf('call_2'));
  const [listener, other] = [listen('call_1'), listen('call_2')];

  inProgress.shift();
  clock.advance(1000);

  expect([listener.overs(), other.overs()]).toEqual([1, 0]);
});

test('CallSound tells each listener once when it is closed', () => {
  const { clock, sound, listen } = openSound(callOf('call_1'));
  const listener = listen();

  sound.close();
  sound.close();
  clock.advance(1000);

  expect(listener.overs()).toBe(1);
});

test('CallSound lets five listen to a call, and the sixth when one has gone', () => {
  const { listen } = openSound(callOf('call_1'), callOf('call_2'));
  const listeners = Array.from({ length: 5 }, () => listen());

  const refused = listen();
  const elsewhere = listen('call_2');
  listeners[0]?.stop();

  expect(refused.listening).toEqual({ kind: 'full', why: '5 listen to it already' });
  expect(elsewhere.listening.kind).toBe('begun');
  expect(listen().listening.kind).toBe('begun');
});

test('CallSound lets twenty listen in all', () => {
  const { listen } = openSound(...Array.from({ length: 6 }, (_, at) => callOf(`call_${at}`)));
  for (let at = 0; at < 20; at += 1) listen(`call_${at % 5}`);

  const refused = listen('call_5');

  expect(refused.listening).toMatchObject({ kind: 'full' });
});

test('CallSound refuses to stream an unknown or simulated call', () => {
  const simulated = { ...callOf('call_2'), audio: new ScriptedAudio() };
  const { listen } = openSound(simulated);

  expect(listen('call_1').listening).toEqual({ kind: 'not-in-progress' });
  expect(listen('call_2').listening).toEqual({ kind: 'simulated' });
});

test('CallSound leaves out what went by while this process stood still', () => {
  const call = callOf('call_1');
  const { clock, listen } = openSound(call);
  const listener = listen();
  for (let frames = 0; frames < 25; frames += 1) sounds(clock, call);
  const before = Buffer.concat(listener.heard).length;

  const { nowMs } = clock;
  const stalledMs = 60_000;
  clock.nowMs = () => nowMs.call(clock) + stalledMs;
  for (let frames = 0; frames < 25; frames += 1) sounds(clock, call, { caller: 5, agent: 6 });

  const after = Buffer.concat(listener.heard).length - before;
  expect(after).toBeLessThanOrEqual(4 * 8 * 520);
  expect(listener.side(0).at(-1)).toBe(5);
});

test('CallSound stops its timer without listeners, and taps the call again for the next one', () => {
  const call = callOf('call_1');
  const { clock, listen } = openSound(call);
  listen().stop();
  const waiting = clock.waiting;

  const later = listen();
  clock.advance(1000);

  expect(waiting).toBe(0);
  expect(call.tap.isOpen).toBe(true);
  expect(later.heard.length).toBeGreaterThan(0);
});

test('CallSound goes on for one call when the other is over', () => {
  const [over, going] = [callOf('call_1'), callOf('call_2')];
  const { clock, inProgress, listen } = openSound(over, going);
  const [first, second] = [listen('call_1'), listen('call_2')];
  inProgress.shift();

  clock.advance(1000);

  expect([first.overs(), second.overs()]).toEqual([1, 0]);
  expect([over.tap.isOpen, going.tap.isOpen]).toEqual([false, true]);
  expect(second.heard.length).toBeGreaterThan(5);
});
