import { expect, test } from 'vitest';
import type {
  AnswerOptions,
  IncomingCall,
  Leg,
  ReleaseCause,
} from '../../src/telephony/carrier.ts';
import { BrowserCall } from '../../src/telephony/webrtc/browser-call.ts';

/** A call as SIP brings it, and its leg, driven by the test. */
class ScriptedCall implements IncomingCall {
  readonly carrierCallSid = 'sid';
  readonly from = 'anonymous';
  readonly to = 'agent_1';
  readonly statuses: number[] = [];
  readonly answers: (AnswerOptions | undefined)[] = [];
  readonly answered = Promise.withResolvers<Leg>();
  byes = 0;
  cancel: () => void = () => undefined;
  release: (cause: ReleaseCause) => void = () => undefined;
  readonly leg = {
    onReleased: (listener: (cause: ReleaseCause) => void) => {
      this.release = listener;
    },
    hangUp: async () => {
      this.byes += 1;
      this.release({ kind: 'near-end' });
    },
  } as unknown as Leg;

  onCancelled(listener: () => void): void {
    this.cancel = listener;
  }

  reject(sipStatus: number): void {
    this.statuses.push(sipStatus);
  }

  ring(): void {
    this.statuses.push(180);
  }

  answer(options?: AnswerOptions): Promise<Leg> {
    this.answers.push(options);
    return this.answered.promise;
  }
}

function ring() {
  const incoming = new ScriptedCall();
  const over: string[] = [];
  const call = new BrowserCall({
    incoming,
    from: 'browser',
    to: 'agent_1',
    onOver: () => over.push('over'),
  });
  return { incoming, over, call };
}

async function answered() {
  const world = ring();
  world.incoming.answered.resolve(world.incoming.leg);
  const leg = await world.call.answer();
  const causes: ReleaseCause[] = [];
  leg.onReleased((cause) => causes.push(cause));
  return { ...world, leg, causes };
}

test('BrowserCall is from the browser and to its agent, and over once when the leg is released', async () => {
  const { call, incoming, over, causes } = await answered();

  incoming.release({ kind: 'far-end' });

  expect([call.from, call.to, call.carrierCallSid]).toEqual(['browser', 'agent_1', 'sid']);
  expect([over, causes]).toEqual([['over'], [{ kind: 'far-end' }]]);
});

test('BrowserCall tells its page what the call is called here', async () => {
  const { call, incoming } = ring();
  incoming.answered.resolve(incoming.leg);

  await call.answer({ callId: 'call_1' });

  expect(incoming.answers).toEqual([{ headers: { 'X-Service-Call': 'call_1' } }]);
});

test('BrowserCall.hangUp says BYE, and the end is ours', async () => {
  const { call, incoming, causes } = await answered();

  await call.hangUp();
  await call.hangUp();

  expect([incoming.byes, causes]).toEqual([1, [{ kind: 'near-end' }]]);
});

test('BrowserCall.lose ends the leg as the caller’s own hanging up', async () => {
  const { call, causes } = await answered();

  call.disconnected();

  expect(causes).toEqual([{ kind: 'far-end' }]);
});

test('BrowserCall that is lost while it is being answered ends as soon as it is', async () => {
  const { call, incoming, over } = ring();
  const answering = call.answer();

  call.disconnected();
  incoming.answered.resolve(incoming.leg);
  await answering;

  expect([incoming.byes, over]).toEqual([1, ['over']]);
});

test('BrowserCall.hangUp refuses a call that still rings', async () => {
  const { call, incoming } = ring();

  await call.hangUp();

  expect(incoming.statuses).toEqual([480]);
});

test('BrowserCall is over when it is refused, cancelled, or cannot be answered', async () => {
  const refused = ring();
  const cancelled = ring();
  const failed = ring();
  const told: string[] = [];
  cancelled.call.onCancelled(() => told.push('cancelled'));

  refused.call.reject(404);
  cancelled.incoming.cancel();
  failed.incoming.answered.reject(new Error('no sound'));
  await failed.call.answer().catch(() => undefined);

  expect([refused.over, cancelled.over, failed.over]).toEqual([['over'], ['over'], ['over']]);
  expect(told).toEqual(['cancelled']);
});
