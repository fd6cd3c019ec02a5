/** The TypeScript client's types and methods; pure */
import {
  byResource,
  type ClientModel,
  type ClientOperation,
  type Field,
  type NamedType,
  type TypeRef,
} from './client-model.ts';
import { docsOf, GENERATED, indent, pascalCase, wrapped } from './source-text.ts';

export function emitTypescript(model: ClientModel): Readonly<Record<string, string>> {
  return {
    'src/generated/types.ts': typesFile(model),
    'src/generated/resources.ts': resourcesFile(model),
  };
}

function typesFile(model: ClientModel): string {
  const queries = model.operations
    .filter(({ query }) => query.length > 0)
    .map((operation) => {
      const description = `Query of \`${operation.resource}.${operation.verb}\`.`;
      return interfaceOf(queryName(operation), description, operation.query);
    });
  const codes = choice(model.errorCodes);
  const events = model.webhookEvents.map(({ type }) => typeOf(type)).join(' | ');
  return [
    `/** ${GENERATED} */`,
    ...model.types.map(namedType),
    ...queries,
    `/** Values of \`error.code\`. */\nexport type ErrorCode = ${codes};`,
    `/** Every code, for comparing. */\nexport const ERROR_CODES = [${model.errorCodes.map(quoted).join(', ')}] as const;`,
    `/** What a webhook endpoint receives. */\nexport type WebhookEvent = ${events};`,
    '',
  ].join('\n\n');
}

function namedType({ name, description, shape }: NamedType): string {
  switch (shape.kind) {
    case 'record':
      return interfaceOf(name, description, shape.fields);
    case 'union':
      return `${comment(description)}export type ${name} = ${shape.of.map(typeOf).join(' | ')};`;
    case 'alias':
      return `${comment(description)}export type ${name} = ${typeOf(shape.of)};`;
    default:
      return shape satisfies never;
  }
}

function interfaceOf(name: string, description: string, fields: readonly Field[]): string {
  const lines = fields.map(
    (field) =>
      `${comment(field.description)}${field.name}${field.isRequired ? '' : '?'}: ${typeOf(field.type)};`,
  );
  return `${comment(description)}export interface ${name} {\n${indent(lines.join('\n'), '  ')}\n}`;
}

function typeOf(type: TypeRef): string {
  switch (type.kind) {
    case 'string':
    case 'boolean':
    case 'unknown':
    case 'number':
      return type.kind;
    case 'integer':
      return 'number';
    case 'choice':
      return choice(type.values);
    case 'list':
      return `Array<${typeOf(type.items)}>`;
    case 'map':
      return `Record<string, ${typeOf(type.values)}>`;
    case 'nullable':
      return `${typeOf(type.of)} | null`;
    case 'named':
      return type.name;
    default:
      return type satisfies never;
  }
}

function choice(values: readonly (string | boolean)[]): string {
  return values.map((value) => (typeof value === 'string' ? quoted(value) : value)).join(' | ');
}

function resourcesFile(model: ClientModel): string {
  const resources = [...byResource(model)];
  const fields = resources.map(([name]) => `readonly ${name}: ${pascalCase(name)};`);
  const makes = resources.map(([name]) => `this.${name} = new ${pascalCase(name)}(transport);`);
  return [
    `/** ${GENERATED} */`,
    [
      "import type { Download } from '../download.ts';",
      "import type { LiveEventStream } from '../live-events.ts';",
      "import type { PageRequest } from '../pages.ts';",
      "import type { ConditionalOptions, RequestOptions } from '../request-options.ts';",
      "import { segment, type Transport } from '../transport.ts';",
      "import type * as types from './types.ts';",
    ].join('\n'),
    ...resources.map(([name, operations]) => resourceClass(name, operations)),
    `/** All resources of the interface. */\nexport class Resources {\n${indent(fields.join('\n'), '  ')}\n\n  constructor(transport: Transport) {\n${indent(makes.join('\n'), '    ')}\n  }\n}`,
    '',
  ].join('\n\n');
}

function resourceClass(name: string, operations: readonly ClientOperation[]): string {
  const methods = operations.map(method).join('\n\n');
  return `export class ${pascalCase(name)} {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

${indent(methods, '  ')}
}`;
}

function method(operation: ClientOperation): string {
  const { verb, pathParameters, body, query, takesIfMatch } = operation;
  const parameters = [
    ...pathParameters.map((field) => `${field.name}: ${ofTypes(field.type)}`),
    ...(body === null ? [] : [`body: ${ofTypes(body)}`]),
    ...(query.length === 0 ? [] : [`query: types.${queryName(operation)} = {}`]),
    `options: ${takesIfMatch ? 'ConditionalOptions' : 'RequestOptions'} = {}`,
  ];
  const { call, result, more } = answer(operation);
  const facts = [
    `operation: ${quoted(`${operation.resource}.${verb}`)}`,
    `method: ${quoted(operation.method)}`,
    `path: ${pathText(operation)}`,
    `retry: ${quoted(operation.retry)}`,
    ...more,
    ...(body === null ? [] : ['body']),
    ...(query.length === 0 ? [] : ['query']),
  ].join(', ');
  return `${comment(docsOf(operation))}${verb}(${parameters.join(', ')}): ${result} {\n  return this.#transport.${call}({ ${facts} }, options);\n}`;
}

/** The method of the transport, what it gives, and what more it has to know. */
function answer({ answer: kind }: ClientOperation) {
  switch (kind.kind) {
    case 'json': {
      const type = ofTypes(kind.type);
      return { call: `json<${type}>`, result: `Promise<${type}>`, more: [] };
    }
    case 'nothing':
      return { call: 'nothing', result: 'Promise<void>', more: [] };
    case 'page': {
      const types = `${ofTypes(kind.item)}, ${ofTypes(kind.page)}`;
      const more = [`paging: ${quoted(kind.style)}`];
      return { call: `pages<${types}>`, result: `PageRequest<${types}>`, more };
    }
    case 'download': {
      const more = [`accept: ${quoted(kind.contentType)}`];
      return { call: 'download', result: 'Promise<Download>', more };
    }
    case 'events':
      return {
        call: 'liveEvents',
        result: 'LiveEventStream',
        more: ["accept: 'text/event-stream'"],
      };
    default:
      return kind satisfies never;
  }
}

function pathText({ path }: ClientOperation): string {
  return `\`${path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `\${segment(${quoted(name)}, ${name})}`)}\``;
}

/** A type as the file of methods names it. */
function ofTypes(type: TypeRef): string {
  return type.kind === 'named' ? `types.${type.name}` : typeOf(type);
}

function queryName({ id }: ClientOperation): string {
  return `${pascalCase(id)}Query`;
}

function comment(text: string): string {
  if (text === '') return '';
  const lines = wrapped(text.replaceAll('*/', '*\\/'), 100);
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
