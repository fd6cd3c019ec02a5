import { expect, test } from 'vitest';
import { LanguageModelError, type ModelRequest } from '../../src/llm/language-model.ts';
import { buildCall } from '../support/store/build-call.ts';
import { GOOD_ANSWER, HANGS, openAnalystWorld, settled } from './support/analyst-world.ts';

test('Analyst saves what the model found out, and tells customers in the same moment', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();

  await world.endCall(['I want to book a cleaning.'], { recordingFile: 'recordings/call_1.wav' });
  await settled();

  const analysis = {
    summary: 'The caller booked a cleaning.',
    sentiment: 'positive',
    intentDetected: 'booking',
  };
  expect(await world.store.calls.findById('call_1')).toMatchObject({
    ...analysis,
    sentimentScore: 0.9,
  });
  expect(await world.transcribed()).toEqual({
    callId: 'call_1',
    agentId: 'agent_1',
    durationSeconds: 30,
    transcript: [
      { role: 'agent', text: 'Hello.', timestamp: '2026-11-20T11:59:30.000Z' },
      {
        role: 'user',
        text: 'I want to book a cleaning.',
        timestamp: '2026-11-20T12:00:00.000Z',
        confidence: 0.9,
      },
    ],
    ...analysis,
    recordingUrl: 'https://voice.example/call_1',
  });
  expect(world.counted).toEqual(['model']);
  expect(await world.store.analyses.count()).toBe(0);
});

test('Analyst says on the timeline who found it out', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();

  await world.endCall();
  await settled();

  expect(await world.store.calls.timeline('call_1')).toMatchObject([
    { kind: 'analysis', details: { by: 'model', failedTries: 0 } },
  ]);
});

test('Analyst stands on the timeline after the end, also where a simulated call ends ahead of the clock', async () => {
  const world = await openAnalystWorld();
  const endedAt = new Date(world.store.clock.nowMs() + 22_000);
  const call = buildCall({ status: 'in_progress', answeredAt: world.store.clock.now() });
  await world.store.calls.insert(call, []);
  world.analyst.start();

  await world.store.calls.update(
    { ...call, status: 'completed', endReason: 'user_hangup', endedAt, durationSeconds: 22 },
    [],
  );
  await settled();

  expect(await world.store.calls.timeline('call_1')).toMatchObject([
    { kind: 'analysis', at: endedAt },
  ]);
});

test('Analyst gives an empty link where there is no recording', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();

  await world.endCall();
  await settled();

  expect(await world.transcribed()).toMatchObject({ recordingUrl: '' });
});

test('Analyst offers the labels that calls of the agent have had, and the default ones', async () => {
  const world = await openAnalystWorld(() => GOOD_ANSWER.replace('booking', 'whitening'));
  await world.store.calls.insert(buildCall({ id: 'call_0', intentDetected: 'whitening' }), []);
  world.analyst.start();

  await world.endCall();
  await settled();

  expect(world.model.asked).toHaveLength(1);
  expect(JSON.stringify(world.model.asked[0]?.schema)).toContain('"enum":["whitening","booking"');
  expect(await world.transcribed()).toMatchObject({ intentDetected: 'whitening' });
});

test('Analyst asks no model about a call on which the caller said nothing', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();

  await world.endCall(['  ', '…']);
  await settled();

  expect(world.model.asked).toEqual([]);
  expect(await world.transcribed()).toMatchObject({
    summary: 'The caller said nothing.',
    sentiment: 'neutral',
    intentDetected: 'other',
  });
  expect(world.counted).toEqual(['empty']);
});

test('Analyst sends nothing for a call that was never answered', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();

  await world.endCall([], { answeredAt: null, status: 'ringing' });
  await world.pass(31_000);

  expect(await world.events()).toEqual([]);
});

test('Analyst leaves calls of the other environment alone', async () => {
  const world = await openAnalystWorld();
  world.analyst.start();

  await world.endCall([], { environment: 'test' });
  await world.pass(31_000);

  expect(await world.events()).toEqual([]);
  expect(await world.store.analyses.count()).toBe(1);
});

test('Analyst asks four at once, and no more', async () => {
  const answers: ((text: string) => void)[] = [];
  const world = await openAnalystWorld(() => new Promise((resolve) => answers.push(resolve)));
  world.analyst.start();

  for (let index = 0; index < 6; index += 1)
    await world.endCall(['Hello?'], { id: `call_${index}` });
  await settled();
  const askedAtOnce = world.model.asked.length;
  answers[0]?.(GOOD_ANSWER);
  await settled();

  expect(askedAtOnce).toBe(4);
  expect(world.model.asked.length).toBe(5);
});

test('Analyst asks once more at once when the answer is rubbish', async () => {
  const world = await openAnalystWorld((_request, index) => (index === 0 ? 'Sure!' : GOOD_ANSWER));
  world.analyst.start();

  await world.endCall();
  await settled();

  expect(world.model.asked).toHaveLength(2);
  expect(await world.transcribed()).toMatchObject({ intentDetected: 'booking' });
});

test('Analyst tries again after 2 and 5 s, and then without the model', async () => {
  const world = await openAnalystWorld(() => Promise.reject(new LanguageModelError('down')));
  world.analyst.start();
  const triesAfter: number[] = [];

  await world.endCall(['Thank you, that was great, I am happy.']);
  for (const ms of [0, 1500, 500, 4500, 500, 1000]) {
    await world.pass(ms);
    triesAfter.push(world.model.asked.length);
  }

  expect(triesAfter).toEqual([1, 1, 2, 2, 3, 3]);
  expect(await world.transcribed()).toMatchObject({
    summary: 'Thank you, that was great, I am happy.',
    sentiment: 'positive',
    intentDetected: 'other',
  });
  expect(await world.store.calls.timeline('call_1')).toMatchObject([
    { kind: 'analysis', details: { by: 'lexicon', failedTries: 2 } },
  ]);
  expect(world.counted).toEqual(['lexicon']);
});

test('Analyst tells customers within 30 s of each end though the model hangs and 50 calls wait', async () => {
  const world = await openAnalystWorld(HANGS);
  world.analyst.start();
  const ids = Array.from({ length: 50 }, (_, index) => `call_${index}`);

  for (const id of ids) await world.endCall(['Hello?'], { id });
  await world.pass(28_500);

  expect(await Promise.all(ids.map((id) => world.events(id)))).toEqual(
    ids.map(() => ['call.transcribed']),
  );
});

test('Analyst frees its place when the model does not answer within 8 s', async () => {
  const world = await openAnalystWorld((request, index) => {
    return index === 0 ? HANGS(request, index) : GOOD_ANSWER;
  });
  world.analyst.start();

  await world.endCall();
  await world.pass(7500);
  const eventsBefore = await world.events();
  await world.pass(3000);

  expect(eventsBefore).toEqual([]);
  expect(world.model.asked[0]?.signal.aborted).toBe(true);
  expect(await world.transcribed()).toMatchObject({ intentDetected: 'booking' });
});

test('Analyst keeps what changed in the call while the model thought', async () => {
  const answer = Promise.withResolvers<string>();
  const world = await openAnalystWorld(() => answer.promise);
  world.analyst.start();
  const call = await world.endCall();
  await settled();

  await world.store.calls.update(
    { ...call, metadata: { note: 'seen' }, recordingFile: 'late.wav' },
    [],
  );
  answer.resolve(GOOD_ANSWER);
  await settled();

  expect(await world.store.calls.findById('call_1')).toMatchObject({
    metadata: { note: 'seen' },
    recordingFile: 'late.wav',
    intentDetected: 'booking',
  });
  expect(await world.transcribed()).toMatchObject({ recordingUrl: 'https://voice.example/call_1' });
});

const ASKING = {
  extract: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
  successCriteria: 'The caller has an appointment.',
};

/** What a good model answers to either question. */
const answerBoth = (request: ModelRequest) => {
  const isExtraction = Object.keys(Object(request.schema?.properties)).includes('extracted');
  const extraction = { extracted: { day: 'Friday' }, success: { met: true, reason: 'Booked.' } };
  return isExtraction ? JSON.stringify(extraction) : GOOD_ANSWER;
};

test('Analyst saves and tells what the agent wants to be extracted', async () => {
  const world = await openAnalystWorld(answerBoth, ASKING);
  world.analyst.start();

  await world.endCall(['On Friday, please.']);
  await settled();

  const found = { extracted: { day: 'Friday' }, success: { met: true, reason: 'Booked.' } };
  expect(await world.store.calls.findById('call_1')).toMatchObject(found);
  expect(await world.transcribed()).toMatchObject({ ...found, intentDetected: 'booking' });
});

test('Analyst keeps an analysis whose extraction fails, and the timeline says why', async () => {
  const world = await openAnalystWorld((request, index) => {
    return index === 0 ? answerBoth(request) : '{"extracted": {}}';
  }, ASKING);
  world.analyst.start();

  await world.endCall(['On Friday, please.']);
  await settled();

  const event = await world.transcribed();
  expect(event).toMatchObject({ summary: 'The caller booked a cleaning.' });
  expect(event).not.toHaveProperty('extracted');
  const timeline = await world.store.calls.timeline('call_1');
  expect(timeline.find(({ kind }) => kind === 'analysis')?.details).toMatchObject({
    notExtracted: expect.stringContaining('"day" is missing'),
  });
});
