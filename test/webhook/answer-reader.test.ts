import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import type { Answer } from '../../src/webhook/answer.ts';
import { AnswerReader } from '../../src/webhook/http-sender.ts';

/** A reader whose request has begun, what it answered, and how often it ended the request. */
function openReader() {
  const answers: Answer[] = [];
  const request = { aborts: 0 };
  const reader = new AnswerReader((answer) => answers.push(answer));
  const abort = () => {
    request.aborts += 1;
  };
  const controller = { abort } as unknown as Dispatcher.DispatchController;
  return { reader, answers, request, controller };
}

test('AnswerReader ends the request at the time limit', () => {
  const { reader, answers, request, controller } = openReader();
  reader.onRequestStart(controller);

  reader.timeOut(10_000);

  expect(answers).toMatchObject([{ kind: 'timeout', error: 'no answer within 10 seconds' }]);
  expect(request.aborts).toBe(1);
});

test('AnswerReader sends no request that begins after the time limit or after it was abandoned', () => {
  const late = openReader();
  const abandoned = openReader();

  late.reader.timeOut(10_000);
  late.reader.onRequestStart(late.controller);
  abandoned.reader.abandon();
  abandoned.reader.onRequestStart(abandoned.controller);

  expect([late.request.aborts, abandoned.request.aborts]).toEqual([1, 1]);
});

test('AnswerReader ends a request that is abandoned, and answers nothing', () => {
  const { reader, answers, request, controller } = openReader();
  reader.onRequestStart(controller);

  reader.abandon();
  reader.onResponseError(controller, new Error('the attempt is over'));

  expect(answers).toEqual([]);
  expect(request.aborts).toBe(1);
});

test('AnswerReader answers once', () => {
  const { reader, answers, controller } = openReader();
  reader.onRequestStart(controller);
  reader.onResponseStart(controller, 200);

  reader.onResponseEnd();
  reader.timeOut(10_000);
  reader.onResponseError(controller, new Error('closed'));

  expect(answers).toMatchObject([{ kind: 'ok', statusCode: 200, responseText: null }]);
});

test('AnswerReader passes over informational answers', () => {
  const { reader, answers, controller } = openReader();

  reader.onResponseStart(controller, 103);
  reader.onResponseStart(controller, 200);
  reader.onResponseEnd();

  expect(answers).toMatchObject([{ kind: 'ok', statusCode: 200 }]);
});

test('AnswerReader reads 64 kB of a body, keeps 2 kB, and breaks off what is longer', () => {
  const { reader, answers, request, controller } = openReader();
  reader.onRequestStart(controller);
  reader.onResponseStart(controller, 200);

  reader.onResponseData(controller, Buffer.alloc(2047, 'a'));
  reader.onResponseData(controller, Buffer.alloc(63_489, 'b'));
  const abortsAt64 = request.aborts;
  reader.onResponseData(controller, Buffer.from('c'));
  reader.onResponseError(controller, new Error('the attempt is over'));

  expect([abortsAt64, request.aborts]).toEqual([0, 1]);
  expect(answers).toMatchObject([{ kind: 'ok', responseText: `${'a'.repeat(2047)}b` }]);
});

test('AnswerReader makes text of any bytes', () => {
  const { reader, answers, controller } = openReader();
  reader.onResponseStart(controller, 500);

  reader.onResponseData(controller, Buffer.from([0x61, 0xff, 0, 0x62]));
  reader.onResponseEnd();

  expect(answers).toMatchObject([{ kind: 'http', responseText: 'a\uFFFD\uFFFDb' }]);
});
