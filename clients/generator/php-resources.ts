/** Methods of the PHP client, a class for each resource; pure */
import { byResource, type ClientModel, type ClientOperation, type Field } from './client-model.ts';
import { docComment, docLines, objectPlaces, phpType, phpTypeNames, quoted } from './php-types.ts';
import { docsOf, GENERATED, indent, pascalCase } from './source-text.ts';

const HEAD = `<?php\n\n// ${GENERATED}\n\ndeclare(strict_types=1);\n\nnamespace Offhook\\Generated;\n`;

/** The text of each class, by its file's name. */
export function phpResources(model: ClientModel): Readonly<Record<string, string>> {
  const files = [...byResource(model)].map(([name, operations]) => [
    `${className(name)}.php`,
    resourceClass(name, operations, model),
  ]);
  return { ...Object.fromEntries(files), 'Resources.php': allResources(model) };
}

function className(resource: string): string {
  return `${pascalCase(resource)}Resource`;
}

function allResources(model: ClientModel): string {
  const names = [...byResource(model).keys()];
  const fields = names.map((name) => `    public readonly ${className(name)} $${name};`);
  const makes = names.map((name) => `        $this->${name} = new ${className(name)}($transport);`);
  return `${HEAD}
use Offhook\\Internal\\Transport;

/** All resources of the interface. */
abstract class Resources
{
${fields.join('\n')}

    public function __construct(Transport $transport)
    {
${makes.join('\n')}
    }
}
`;
}

function resourceClass(
  name: string,
  operations: readonly ClientOperation[],
  model: ClientModel,
): string {
  const methods = operations.map((operation) => method(operation, model)).join('\n\n');
  const uses = USES.filter((use) =>
    new RegExp(`\\b${use.split('\\').at(-1)}\\b`).test(`Transport ${methods}`),
  );
  const tags = methods.match(/@(?:param|return) [^$\n]*/g)?.join() ?? '';
  const types = phpTypeNames(model)
    .filter((type) => new RegExp(`\\b${type}\\b`).test(tags))
    .map((type) => `@phpstan-import-type ${type} from Types`);
  return `${HEAD}
${uses.map((use) => `use ${use};`).join('\n')}

${docComment([`Methods of \`$offhook->${name}\`.`, '', ...types])}
final class ${className(name)}
{
    public function __construct(private readonly Transport $transport)
    {
    }

${indent(methods, '    ')}
}
`;
}

const USES = [
  'Offhook\\Download',
  'Offhook\\Exception\\OffhookException',
  'Offhook\\Internal\\PathSegment',
  'Offhook\\Internal\\RequestFacts',
  'Offhook\\Internal\\RetryRule',
  'Offhook\\Internal\\Transport',
  'Offhook\\LiveEvents',
  'Offhook\\Pages',
  'Offhook\\RequestOptions',
];

interface Parameter {
  readonly name: string;
  readonly native: string;
  readonly doc: string;
  readonly isOptional: boolean;
  readonly description: string;
}

function method(operation: ClientOperation, model: ClientModel): string {
  const parameters = parametersOf(operation);
  const { native, doc, isSent } = resultOf(operation);
  const docs = [
    ...docLines(docsOf(operation)),
    '',
    ...parameters.map((it) => `@param ${it.doc} $${it.name} ${it.description}`.trimEnd()),
    ...(parameters.length === 0 ? [] : ['']),
    ...(doc === 'void' ? [] : [`@return ${doc}`, '']),
    // Lists and event streams send nothing before the first item is asked for.
    ...(isSent ? ['@throws OffhookException'] : []),
  ];
  const words = parameters.map(
    (it) => `    ${it.native} $${it.name}${it.isOptional ? ' = null' : ''},`,
  );
  const head = `public function ${operation.verb}(\n${words.join('\n')}\n): ${native} {`;
  return `${docComment(withoutEnd(docs))}\n${head}\n${bodyOf(operation, model)}\n}`;
}

function withoutEnd(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function parametersOf(operation: ClientOperation): readonly Parameter[] {
  const { pathParameters, body, query, takesIfMatch } = operation;
  const options = ['?RequestOptions', 'RequestOptions|null', ''] as const;
  const version = '`If-Match`: the `updatedAt` that the change was made from, in double quotes';
  return [
    ...pathParameters.map((field) => parameter(field, false)),
    ...(body === null ? [] : [given('body', ['array', phpType(body), ''], false)]),
    ...query.map((field) => parameter(field, true)),
    ...(takesIfMatch ? [given('ifMatch', ['?string', 'string|null', version], true)] : []),
    given('options', options, true),
  ];
}

function given(
  name: string,
  [native, doc, description]: readonly [string, string, string],
  isOptional: boolean,
): Parameter {
  return { name, native, doc, description, isOptional };
}

function parameter({ name, type, description }: Field, isOptional: boolean): Parameter {
  const native = nativeType(type.kind);
  const doc = phpType(type);
  return {
    ...{ name, isOptional, description: docLines(description).join(' ') },
    native: isOptional ? `?${native}` : native,
    doc: isOptional ? `${doc}|null` : doc,
  };
}

/** @throws {TypeError} for what is no parameter of a path or query. */
function nativeType(kind: Field['type']['kind']): string {
  switch (kind) {
    case 'integer':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'string':
    case 'choice':
      return 'string';
    default:
      throw new TypeError(`Cannot write a parameter of PHP: it is a ${kind}`);
  }
}

function resultOf({ answer }: ClientOperation) {
  switch (answer.kind) {
    case 'json':
      return { native: 'array', doc: phpType(answer.type), isSent: true };
    case 'nothing':
      return { native: 'void', doc: 'void', isSent: true };
    case 'page': {
      const doc = `Pages<${phpType(answer.item)}, ${phpType(answer.page)}>`;
      return { native: 'Pages', doc, isSent: false };
    }
    case 'download':
      return { native: 'Download', doc: 'Download', isSent: true };
    case 'events':
      return { native: 'LiveEvents', doc: 'LiveEvents', isSent: false };
    default:
      return answer satisfies never;
  }
}

function bodyOf(operation: ClientOperation, model: ClientModel): string {
  const facts = `new RequestFacts(\n${indent(factsOf(operation, model).join(',\n'), '    ')},\n)`;
  const { answer } = operation;
  const { doc } = resultOf(operation);
  const sent = (call: string) => `$this->transport->${call}(${facts}, $options)`;
  const text = {
    json: `/** @var ${doc} $answer */\n$answer = ${sent('json')};\n\nreturn $answer;`,
    nothing: `${sent('nothing')};`,
    page: `/** @var ${doc} $pages */\n$pages = ${sent('pages')};\n\nreturn $pages;`,
    download: `return ${sent('download')};`,
    events: `return ${sent('liveEvents')};`,
  }[answer.kind];
  return indent(text, '    ');
}

function factsOf(operation: ClientOperation, model: ClientModel): readonly string[] {
  const {
    resource,
    verb,
    method: name,
    path,
    retry,
    body,
    query,
    answer,
    takesIfMatch,
  } = operation;
  const items = query.map((field) => `${quoted(field.name)} => $${field.name}`).join(', ');
  const places = body === null ? [] : [...new Set(objectPlaces(body, model))];
  return [
    `operation: ${quoted(`${resource}.${verb}`)}`,
    `method: ${quoted(name)}`,
    `path: ${pathText(path)}`,
    `retry: RetryRule::${pascalCase(retry)}`,
    ...(query.length === 0 ? [] : [`query: [${items}]`]),
    ...(body === null ? [] : ['body: $body']),
    ...(places.length === 0 ? [] : [`objects: [${places.map(quoted).join(', ')}]`]),
    ...(answer.kind === 'page' ? [`cursor: ${answer.style === 'cursor'}`] : []),
    ...(answer.kind === 'download' ? [`accept: ${quoted(answer.contentType)}`] : []),
    ...(takesIfMatch ? ['ifMatch: $ifMatch'] : []),
  ];
}

/** `/api/agents/{agentId}` as an expression of PHP. */
function pathText(path: string): string {
  const parts = path.split(/\{(\w+)\}/).map((part, index) => {
    return index % 2 === 0 ? quoted(part) : `PathSegment::of(${quoted(part)}, $${part})`;
  });
  return parts.filter((part) => part !== "''").join(' . ');
}
