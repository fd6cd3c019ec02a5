/** Methods of the Ruby client, and their signatures in RBS; pure */
import {
  byResource,
  type ClientModel,
  type ClientOperation,
  type Field,
  type TypeRef,
} from './client-model.ts';
import { rubyComment, rubyType } from './ruby-types.ts';
import { docsOf, indent, pascalCase, snakeCase } from './source-text.ts';

/** Words that Ruby gives no parameter as a name, and the names of parameters that are not of the interface. */
const RESERVED: ReadonlySet<string> = new Set(
  'alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield options if_match'.split(
    ' ',
  ),
);

/** The classes, without their margin. */
export function rubyResources(model: ClientModel): string {
  const resources = [...byResource(model)];
  const names = resources.map(([name]) => snakeCase(name));
  const makes = resources.map(
    ([name]) => `@${snakeCase(name)} = ${className(name)}.new(transport)`,
  );
  return [
    ...resources.map(([name, operations]) => {
      const methods = operations.map(method).join('\n\n');
      const start = 'def initialize(transport)\n  @transport = transport\nend';
      return `# Methods of \`offhook.${snakeCase(name)}\`.\nclass ${className(name)}\n${indent(`${start}\n\n${methods}`, '  ')}\nend`;
    }),
    [
      '# All resources of the interface.',
      'class Resources',
      indent(`attr_reader ${names.map((name) => `:${name}`).join(', ')}`, '  '),
      '',
      indent(`def initialize(transport)\n${indent(makes.join('\n'), '  ')}\nend`, '  '),
      'end',
    ].join('\n'),
  ].join('\n\n');
}

/** The same classes in RBS. */
export function rubySignatures(model: ClientModel): string {
  const resources = [...byResource(model)];
  const readers = resources.map(([name]) => `attr_reader ${snakeCase(name)}: ${className(name)}`);
  const start = 'def initialize: (Transport transport) -> void';
  return [
    ...resources.map(([name, operations]) => {
      const methods = operations.map((operation) => signature(operation, model)).join('\n\n');
      const state = '@transport: Transport';
      return `class ${className(name)}\n${indent(`${state}\n\n${start}\n\n${methods}`, '  ')}\nend`;
    }),
    `class Resources\n${indent(`${readers.join('\n')}\n\n${start}`, '  ')}\nend`,
  ].join('\n\n');
}

function className(resource: string): string {
  return `${pascalCase(resource)}Resource`;
}

function method(operation: ClientOperation): string {
  const { verb, pathParameters, query, body, takesIfMatch } = operation;
  const parameters = [
    ...pathParameters.map(({ name }) => snakeCase(name)),
    ...query.map(({ name }) => `${usable(name)}: nil`),
    ...(takesIfMatch ? ['if_match: nil'] : []),
    'options: nil',
    ...(body === null ? [] : ['**body']),
  ].join(', ');
  const { call, more } = answerOf(operation);
  const facts = [
    `operation: ${quoted(`${operation.resource}.${verb}`)}`,
    `method: ${quoted(operation.method)}`,
    `path: ${pathText(operation)}`,
    `retry_rule: :${operation.retry}`,
    ...(query.length === 0 ? [] : [`query: { ${query.map(queryItem).join(', ')} }`]),
    ...(body === null ? [] : ['body: body']),
    ...(takesIfMatch ? ['if_match: if_match'] : []),
    ...more,
  ];
  return [
    `${rubyComment(methodDocs(operation))}def ${snakeCase(verb)}(${parameters})`,
    `  facts = RequestFacts.new(\n${indent(facts.join(',\n'), '    ')}\n  )`,
    `  @transport.${call}(facts, options)`,
    'end',
  ].join('\n');
}

function methodDocs(operation: ClientOperation): string {
  const described = [...operation.pathParameters.map(pathName), ...operation.query]
    .filter(({ description }) => description !== '')
    .map(({ name, description }) => `@param ${name} ${description}`);
  const version =
    '@param if_match `If-Match`: the `updatedAt` that the change was made from, in double quotes';
  const tags = [...described, ...(operation.takesIfMatch ? [version] : [])];
  return tags.length === 0 ? docsOf(operation) : `${docsOf(operation)}\n\n${tags.join('\n')}`;
}

function pathName(field: Field): Field {
  return { ...field, name: snakeCase(field.name) };
}

function queryItem({ name }: Field): string {
  return `${name}: ${name}`;
}

/** @throws {TypeError} when it can be no parameter. */
function usable(name: string): string {
  if (!RESERVED.has(name)) return name;
  throw new TypeError(`Cannot write a parameter "${name}" of Ruby: the word is reserved`);
}

function answerOf({ answer }: ClientOperation) {
  switch (answer.kind) {
    case 'json':
      return { call: 'json', result: rubyType(answer.type, 'Types::'), more: [] };
    case 'nothing':
      return { call: 'nothing', result: 'nil', more: [] };
    case 'page': {
      const types = [answer.item, answer.page].map((type) => rubyType(type, 'Types::'));
      const more = [`paging: :${answer.style}`];
      return { call: 'pages', result: `Pages[${types.join(', ')}]`, more };
    }
    case 'download': {
      const more = [`accept: ${quoted(answer.contentType)}`];
      return { call: 'download', result: 'Download', more };
    }
    case 'events':
      return { call: 'live_events', result: 'LiveEvents', more: [] };
    default:
      return answer satisfies never;
  }
}

function signature(operation: ClientOperation, model: ClientModel): string {
  const { verb, pathParameters, query, body, takesIfMatch } = operation;
  const parameters = [
    ...pathParameters.map((it) => `${rubyType(it.type)} ${snakeCase(it.name)}`),
    ...query.map((field) => keyword({ ...field, isRequired: false, type: nullable(field.type) })),
    ...(takesIfMatch ? ['?if_match: String?'] : []),
    '?options: request_options?',
    ...(body === null ? [] : fieldsOf(body, model).map(keyword)),
  ].join(', ');
  return `def ${snakeCase(verb)}: (${parameters}) -> ${answerOf(operation).result}`;
}

function nullable(of: TypeRef): TypeRef {
  return of.kind === 'nullable' ? of : { kind: 'nullable', of };
}

function keyword({ name, type, isRequired }: Field): string {
  return `${isRequired ? '' : '?'}${name}: ${rubyType(type, 'Types::')}`;
}

/** @throws {TypeError} when the body is no record, or a field has a name that is taken. */
function fieldsOf(body: TypeRef, { types }: ClientModel): readonly Field[] {
  const shape = body.kind === 'named' && types.find(({ name }) => name === body.name)?.shape;
  if (shape === false || shape?.kind !== 'record') {
    throw new TypeError(`Cannot write keywords of Ruby: the body is a ${body.kind}, no record`);
  }
  const taken = shape.fields.find(({ name }) => name === 'options' || name === 'if_match');
  if (taken !== undefined) throw new TypeError(`Cannot write the keyword "${taken.name}": taken`);
  return shape.fields;
}

function pathText({ path }: ClientOperation): string {
  if (!path.includes('{')) return quoted(path);
  const text = path.replaceAll(
    /\{(\w+)\}/g,
    (_all, name: string) => `#{PathSegment.of('${snakeCase(name)}', ${snakeCase(name)})}`,
  );
  return `"${text}"`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
