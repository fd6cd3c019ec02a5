/** The page's phone closes all that it opened, whenever a side hangs up. */
import { expect, test } from 'vitest';
import {
  type Line,
  type LineListener,
  type Microphone,
  Phone,
  type PhoneParts,
} from '../../../src/dashboard/phone/phone.ts';
import { PhoneError } from '../../../src/dashboard/phone/phone-state.ts';

const TICKET = { url: 'ws://here/sip', uri: 'sip:agent_1@offhook.invalid', domain: 'x.invalid' };

/** A phone whose parts write down what was done with them. */
function world(parts: Partial<PhoneParts<Microphone>> = {}) {
  const done: string[] = [];
  let line: LineListener | undefined;
  let lose = () => {};
  const microphone: Microphone = {
    mute: (isMuted) => void done.push(isMuted ? 'mute' : 'unmute'),
    levelDbfs: () => -20,
    change: async (deviceId) => void done.push(`change ${deviceId}`),
    stop: () => void done.push('microphone off'),
  };
  const ownLine: Line = {
    press: async (digit) => void done.push(`press ${digit}`),
    hangUp: async () => void done.push('hang up'),
  };
  const phone = new Phone<Microphone>({
    openMicrophone: async (deviceId, onLost) => {
      done.push(`microphone ${deviceId}`);
      lose = onLost;
      return microphone;
    },
    askTicket: async () => TICKET,
    openLine: async (ticket, _, listener) => {
      done.push(`line ${ticket.url}`);
      line = listener;
      return ownLine;
    },
    nowMs: () => 1000,
    onState: () => undefined,
    ...parts,
  });
  return { phone, done, listener: () => line, lose: () => lose() };
}

/** A step that waits until the test lets it go on. */
function gate<Value>(value: Value) {
  const { promise, resolve } = Promise.withResolvers<Value>();
  return { pass: () => promise, open: () => resolve(value) };
}

test('Phone opens microphone and line, and follows the call to its end', async () => {
  const { phone, done, listener } = world();

  await phone.call('headset');
  const statuses = [phone.state.status];
  listener()?.onRinging();
  statuses.push(phone.state.status);
  listener()?.onAnswered('call_1');
  statuses.push(phone.state.status);
  phone.press('5');
  listener()?.onEnded(null);

  expect(statuses).toEqual(['connecting', 'ringing', 'talking']);
  expect(phone.state.endedBy).toBe('there');
  expect(phone.state).toMatchObject({ status: 'ended', callId: 'call_1', pressed: '5' });
  expect(done).toEqual([
    'microphone headset',
    'line ws://here/sip',
    'press 5',
    'microphone off',
    'hang up',
  ]);
});

test('Phone that is hung up while the browser asks lets the microphone go when it comes', async () => {
  const asked = gate<Microphone>({
    mute: () => {},
    levelDbfs: () => 0,
    change: async () => {},
    stop: () => stopped.push('microphone off'),
  });
  const stopped: string[] = [];
  const { phone, done } = world({ openMicrophone: asked.pass });

  const calling = phone.call('');
  phone.hangUp();
  asked.open();
  await calling;

  expect(stopped).toEqual(['microphone off']);
  expect(done).toEqual([]);
  expect(phone.state).toMatchObject({ status: 'ended', endedBy: 'here' });
});

test('Phone that is hung up while it connects ends the line that comes after', async () => {
  const ended: string[] = [];
  const line: Line = { press: async () => {}, hangUp: async () => void ended.push('hang up') };
  const connecting = gate(line);
  const { phone, done } = world({ openLine: connecting.pass });

  const calling = phone.call('');
  await Promise.resolve();
  await new Promise(setImmediate);
  phone.hangUp();
  connecting.open();
  await calling;

  expect(ended).toEqual(['hang up']);
  expect(done).toEqual(['microphone ', 'microphone off']);
});

test('Phone tells why there is no microphone, and can call again', async () => {
  let tries = 0;
  const { phone, done } = world({
    openMicrophone: async () => {
      tries += 1;
      throw new PhoneError({ kind: 'microphoneRefused' });
    },
  });

  await phone.call('');
  await phone.call('');

  expect(tries).toBe(2);
  expect(phone.state).toMatchObject({ status: 'ended', problem: { kind: 'microphoneRefused' } });
  expect(done).toEqual([]);
});

test('Phone without a ticket switches the microphone off', async () => {
  const { phone, done } = world({
    askTicket: async () => {
      throw new PhoneError({ kind: 'serverFull' });
    },
  });

  await phone.call('');

  expect(phone.state.problem).toEqual({ kind: 'serverFull' });
  expect(done).toEqual(['microphone ', 'microphone off']);
});

test('Phone ends the call when its microphone is unplugged', async () => {
  const { phone, done, listener, lose } = world();

  await phone.call('');
  listener()?.onAnswered('call_1');
  lose();

  expect(phone.state).toMatchObject({ status: 'ended', problem: { kind: 'microphoneLost' } });
  expect(done.slice(-2)).toEqual(['microphone off', 'hang up']);
});

test('Phone that was muted while the browser asked is so from the first sound on', async () => {
  const muted: boolean[] = [];
  const asked = gate<Microphone>({
    mute: (isMuted) => void muted.push(isMuted),
    levelDbfs: () => 0,
    change: async () => {},
    stop: () => {},
  });
  const { phone } = world({ openMicrophone: asked.pass });

  const calling = phone.call('');
  phone.mute(true);
  asked.open();
  await calling;

  expect(muted).toEqual([true]);
  expect(phone.state).toMatchObject({ status: 'connecting', isMuted: true });
});

test('Phone takes no second call, and hanging up twice ends it once', async () => {
  const { phone, done, listener } = world();

  await phone.call('');
  await phone.call('');
  phone.hangUp();
  phone.hangUp();
  listener()?.onEnded({ kind: 'socketLost' });

  expect(done.filter((deed) => deed === 'hang up')).toHaveLength(1);
  expect(done.filter((deed) => deed === 'microphone ')).toHaveLength(1);
  expect(phone.state).toMatchObject({ status: 'ended', problem: null });
});
