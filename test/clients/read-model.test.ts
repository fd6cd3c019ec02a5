/** The clients' model of the REST interface. */
import { expect, test } from 'vitest';
import { operationName } from '../../clients/generator/operation-names.ts';
import { readModel } from '../../clients/generator/read-model.ts';
import { readDescription } from '../support/api/api-description.ts';
import { type Description, operationsOf } from '../support/api/openapi-description.ts';

const description = await readDescription();
const model = readModel(description);

function operation(id: string) {
  return model.operations.find((each) => each.id === id);
}

test.each([
  ['createAgent', 'agents.create'],
  ['listMcpServers', 'mcpServers.list'],
  ['getWebhookDelivery', 'webhookDeliveries.get'],
  ['updateSmsGateway', 'smsGateways.update'],
  ['createKey', 'keys.create'],
  ['hangUpCall', 'calls.hangUp'],
])('operationName: %s is %s', (id, name) => {
  const { resource, verb } = operationName(id);

  expect(`${resource}.${verb}`).toBe(name);
});

test('operationName says what to do about a verb that it does not know', () => {
  expect(() => operationName('juggleCalls')).toThrow(
    'Cannot name the operation "juggleCalls": it begins with no known verb; add it to clients/generator/operation-names.ts',
  );
});

test('readModel has every operation, each with a name of its own', () => {
  const names = model.operations.map(({ resource, verb }) => `${resource}.${verb}`);

  expect(names).toHaveLength(operationsOf(description).length);
  expect(new Set(names).size).toBe(names.length);
});

test('readModel tells how an operation may be repeated', () => {
  expect(operation('getAgent')?.retry).toBe('always');
  expect(operation('deleteAgent')?.retry).toBe('always');
  expect(operation('createAgent')?.retry).toBe('keyed');
  expect(operation('updateAgent')?.retry).toBe('refused');
});

test('readModel tells what an answer is', () => {
  expect(operation('listAgents')?.answer).toMatchObject({ kind: 'page', style: 'offset' });
  expect(operation('listCalls')?.answer).toMatchObject({ kind: 'page', style: 'cursor' });
  expect(operation('listEvents')?.answer).toMatchObject({ kind: 'page', style: 'cursor' });
  expect(operation('deleteCall')?.answer).toEqual({ kind: 'nothing' });
  expect(operation('watchCalls')?.answer).toEqual({ kind: 'events' });
  expect(operation('getCallRecording')?.answer).toEqual({
    kind: 'download',
    contentType: 'audio/wav',
  });
});

test('readModel names every type once, and refers to no other', () => {
  const names = model.types.map(({ name }) => name);
  const referred = [...JSON.stringify(model).matchAll(/"kind":"named","name":"(\w+)"/g)];

  expect(new Set(names).size).toBe(names.length);
  expect(referred.map(([, name = '']) => name).filter((name) => !names.includes(name))).toEqual([]);
});

test('readModel refuses two types with one name', () => {
  const inner = { type: 'object', properties: {} };
  const schemas = {
    ...description.components.schemas,
    Pair: { type: 'object', properties: { left: inner } },
    PairLeft: inner,
  };
  const changed: Description = {
    ...description,
    components: { ...description.components, schemas },
  };

  expect(() => readModel(changed)).toThrow('Cannot name a type "PairLeft"');
});
