/** Types of live events, which the OpenAPI document has only in words; pure */
import type { ClientModel, Field, NamedType, TypeRef } from './client-model.ts';

const named = (name: string): TypeRef => ({ kind: 'named', name });
const STRING: TypeRef = { kind: 'string' };
const NUMBER: TypeRef = { kind: 'number' };

/** Adds `LiveEvent`, and what it has inside, to the types of a model. */
export function withLiveTypes(model: ClientModel): ClientModel {
  return { ...model, types: [...model.types, ...liveTypes(model)] };
}

function liveTypes({ types }: ClientModel): readonly NamedType[] {
  const ofCall: readonly Field[] = [field('callId', STRING)];
  return [
    record('LiveCall', 'A call in an event.', liveCallFields(types)),
    ...event('Snapshot', 'How each connection begins.', [
      field('calls', { kind: 'list', items: named('LiveCall') }),
      field('queuedCalls', { kind: 'integer' }),
    ]),
    eventOf('Call', 'A call is there, or has changed.', named('LiveCall')),
    ...event('Said', 'Somebody has spoken.', [...ofCall, field('entry', named('TranscriptEntry'))]),
    ...event('Timeline', '', [...ofCall, field('entry', named('TimelineEntry'))]),
    ...event('Hearing', 'What the caller seems to be saying; the next one replaces it.', [
      ...ofCall,
      field('text', STRING),
    ]),
    ...event('Levels', 'The loudest 20 ms since the last time, in dBFS.', [
      field('levels', { kind: 'list', items: named('LiveLevel') }),
    ]),
    record('LiveLevel', '', [...ofCall, field('caller', NUMBER), field('agent', NUMBER)]),
    {
      name: 'LiveEvent',
      description: 'An event, by its name. A newer server may send others, which come as they are.',
      shape: { kind: 'union', of: EVENTS.map((name) => named(`Live${name}Event`)) },
    },
  ];
}

const EVENTS = ['Snapshot', 'Call', 'Said', 'Timeline', 'Hearing', 'Levels'] as const;

function event(
  name: (typeof EVENTS)[number],
  description: string,
  fields: readonly Field[],
): readonly NamedType[] {
  const data = `Live${name}Data`;
  return [eventOf(name, description, named(data)), record(data, '', fields)];
}

function eventOf(name: (typeof EVENTS)[number], description: string, data: TypeRef): NamedType {
  return record(`Live${name}Event`, description, [
    field('event', { kind: 'choice', values: [name.toLowerCase()] }),
    field('data', data),
  ]);
}

/** A call of a list, without what is known only after its end; in a snapshot of one call, with its transcript. */
function liveCallFields(types: readonly NamedType[]): readonly Field[] {
  const shape = types.find(({ name }) => name === 'CallItem')?.shape;
  if (shape?.kind !== 'record') throw new Error('Cannot write live events: no record "CallItem"');
  const atEnd = ['hasTranscript', 'hasRecording'];
  const transcript: TypeRef = { kind: 'list', items: named('TranscriptEntry') };
  return [
    ...shape.fields.filter(({ name }) => !atEnd.includes(name)),
    { name: 'transcript', type: transcript, isRequired: false, description: '' },
  ];
}

function record(name: string, description: string, fields: readonly Field[]): NamedType {
  return { name, description, shape: { kind: 'record', fields } };
}

function field(name: string, type: TypeRef): Field {
  return { name, type, isRequired: true, description: '' };
}
