/** The clients' model from the OpenAPI document; pure */
import {
  type Description,
  followed,
  type Operation,
  operationsOf,
  type Parameter,
} from '../../test/support/api/openapi-description.ts';
import type {
  AnswerKind,
  ClientModel,
  ClientOperation,
  Field,
  RetryRule,
  TypeRef,
} from './client-model.ts';
import { operationName } from './operation-names.ts';
import { TypeReader } from './read-types.ts';

/** @throws {Error} when the document has something that the clients have no form for, with its place. */
export function readModel(description: Description): ClientModel {
  const reader = new TypeReader(description);
  reader.readAll();
  return {
    types: reader.types,
    operations: operationsOf(description).map((each) => operationOf(each, reader, description)),
    errorCodes: errorCodesOf(description),
    webhookEvents: Object.entries(description.webhooks).map(([event, methods]) => {
      const schema = methods.post?.requestBody?.content['application/json']?.schema;
      if (schema === undefined) throw new Error(`Cannot read the webhook "${event}": no JSON body`);
      return { event, type: reader.refOf(schema, event) };
    }),
  };
}

function operationOf(
  operation: Operation,
  reader: TypeReader,
  description: Description,
): ClientOperation {
  const { method, path, docs, parameters, body } = operation;
  const id = docs.operationId ?? '';
  const fieldsIn = (place: Parameter['in']) =>
    parameters.filter((each) => each.in === place).map((each) => fieldOf(each, reader));
  const inPath = fieldsIn('path');
  if (body === undefined && docs.requestBody !== undefined) {
    throw new Error(`Cannot read "${id}": it takes a body, but none in JSON`);
  }
  const answer = answerOf(operation, reader, description);
  return {
    ...{ id, ...operationName(id), method, path },
    summary: docs.summary ?? '',
    description: docs.description ?? '',
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
      const field = inPath.find((each) => each.name === name);
      if (field === undefined) throw new Error(`Cannot read "${id}": {${name}} is not described`);
      return field;
    }),
    query: fieldsIn('query'),
    takesIfMatch: parameters.some(({ name }) => name === 'If-Match'),
    body: body === undefined ? null : reader.refOf(body, `${id}Body`),
    answer,
    retry: retryRuleOf(method, parameters),
  };
}

function fieldOf({ name, schema, required, ...docs }: Parameter, reader: TypeReader): Field {
  const isFlag = schema.enum?.join() === 'true,false';
  const type: TypeRef = isFlag ? { kind: 'boolean' } : reader.refOf(schema, name);
  return { name, type, isRequired: required ?? false, description: docs.description ?? '' };
}

/** RFC 9110, 9.2.2: GET, PUT and DELETE may be repeated; PATCH and a POST without a key may not. */
function retryRuleOf(method: string, parameters: readonly Parameter[]): RetryRule {
  if (['GET', 'PUT', 'DELETE'].includes(method)) return 'always';
  return parameters.some(({ name }) => name === 'X-Idempotency-Key') ? 'keyed' : 'refused';
}

/** The answer to a whole request that goes well: neither 206 nor 304. */
function answerOf({ docs }: Operation, reader: TypeReader, description: Description): AnswerKind {
  const answer = ['200', '201', '202'].map((status) => docs.responses[status]).find((it) => it);
  const [[contentType = '', media] = []] = Object.entries(answer?.content ?? {});
  if (media === undefined) return { kind: 'nothing' };
  if (contentType === 'text/event-stream') return { kind: 'events' };
  if (contentType !== 'application/json') return { kind: 'download', contentType };
  const type = reader.refOf(media.schema, `${docs.operationId}Answer`);
  const fields = followed(media.schema, description).properties ?? {};
  const style = pageStyleOf(Object.keys(fields));
  if (style === undefined) return { kind: 'json', type };
  const item = itemOf(type, reader);
  return { kind: 'page', style, page: type, item };
}

function pageStyleOf(fields: readonly string[]): 'offset' | 'cursor' | undefined {
  if (!fields.includes('data')) return undefined;
  if (fields.includes('nextCursor')) return 'cursor';
  return fields.includes('offset') ? 'offset' : undefined;
}

/** Type of the items of a page. */
function itemOf(page: TypeRef, { types }: TypeReader): TypeRef {
  const shape = page.kind === 'named' && types.find(({ name }) => name === page.name)?.shape;
  const fields = shape !== false && shape?.kind === 'record' ? shape.fields : [];
  const data = fields.find(({ name }) => name === 'data')?.type;
  if (data?.kind !== 'list') throw new Error('Cannot read a page: its data is no list');
  return data.items;
}

function errorCodesOf(description: Description): readonly string[] {
  const { error } = followed({ $ref: '#/components/schemas/Error' }, description).properties ?? {};
  const codes = followed(error ?? {}, description).properties?.code?.enum ?? [];
  if (codes.length === 0) throw new Error('Cannot read the error codes: "Error" has none');
  return codes.map(String);
}
