/** Methods of the Python client, once blocking and once for asyncio; pure */
import { byResource, type ClientModel, type ClientOperation, type Field } from './client-model.ts';
import { docstring, isKeyword, pythonType } from './python-types.ts';
import { docsOf, GENERATED, indent, pascalCase, snakeCase } from './source-text.ts';

type Flavour = 'blocking' | 'asyncio';

/** What the two flavours call the same thing. */
const NAMES = {
  blocking: {
    prefix: '',
    def: 'def',
    wait: '',
    imports: [
      'from .._download import Download',
      'from .._live_events import LiveEvents',
      'from .._pages import Page',
      'from .._transport import Transport',
    ],
  },
  asyncio: {
    prefix: 'Async',
    def: 'async def',
    wait: 'await ',
    imports: [
      'from .._async_transport import AsyncTransport',
      'from .._download import AsyncDownload',
      'from .._live_events import AsyncLiveEvents',
      'from .._pages import AsyncPageRequest',
    ],
  },
} as const;

export function pythonResources(model: ClientModel, flavour: Flavour): string {
  const { prefix, imports } = NAMES[flavour];
  const resources = [...byResource(model)];
  const className = (name: string) => prefix + pascalCase(name);
  const makes = resources.map(
    ([name]) => `self.${snakeCase(name)} = ${className(name)}(transport)`,
  );
  const head = [
    `"""${GENERATED}"""\n\nfrom __future__ import annotations\n\nfrom typing import Literal, Optional, cast\n`,
    ...imports,
    'from .._request import Request, RequestOptions, segment',
    'from . import types',
  ].join('\n');
  return [
    head,
    ...resources.map(([name, operations]) =>
      [
        `class ${className(name)}:`,
        indent(`def __init__(self, transport: ${prefix}Transport) -> None:`, '    '),
        indent('self._transport = transport', '        '),
        ...operations.map((operation) => `\n${indent(methodOf(operation, flavour), '    ')}`),
      ].join('\n'),
    ),
    [
      `class ${prefix}Resources:`,
      '    """All resources of the interface."""',
      '',
      `    def __init__(self, transport: ${prefix}Transport) -> None:`,
      indent(makes.join('\n'), '        '),
      '',
    ].join('\n'),
  ].join('\n\n\n');
}

function methodOf(operation: ClientOperation, flavour: Flavour): string {
  const { verb, pathParameters, body, query, takesIfMatch } = operation;
  const places = pathParameters.map(
    (field) => `${parameterName(field)}: ${pythonType(field.type, 'types.')}`,
  );
  const named = [
    ...query.map(
      (field) => `${parameterName(field)}: Optional[${pythonType(field.type, 'types.')}] = None`,
    ),
    ...(takesIfMatch ? ['if_match: Optional[str] = None'] : []),
    'options: Optional[RequestOptions] = None',
  ];
  const parameters = [
    'self',
    ...places,
    ...(body === null ? [] : [`body: ${pythonType(body, 'types.')}`]),
    '*',
    ...named,
  ];
  const { call, result, isPlain, more } = answerOf(operation, flavour);
  const { def, wait } = NAMES[flavour];
  const facts = [
    `"${operation.resource}.${verb}"`,
    `"${operation.method}"`,
    pathText(operation),
    `retry="${operation.retry}"`,
    ...more,
    ...(query.length === 0 ? [] : [`query=${queryItems(query)}`]),
    ...(body === null ? [] : ['body=body']),
    ...(takesIfMatch ? ['if_match=if_match'] : []),
  ];
  const request = `request = Request(\n${indent(`${facts.join(',\n')},\n`, '    ')})`;
  const sent = `${isPlain ? '' : wait}self._transport.${call}(request, options)`;
  return [
    `${isPlain ? 'def' : def} ${snakeCase(verb)}(\n${indent(`${parameters.join(',\n')},\n`, '    ')}) -> ${result}:`,
    indent(docstring(docsOf(operation)), '    '),
    indent(request, '    '),
    // The answer is what the document says; nothing checks it.
    `    return ${call === 'json' ? `cast("${result}", ${sent})` : sent}`,
  ].join('\n');
}

/** The method of the transport, what it gives, and what more it has to know. `isPlain`: it is no coroutine in either flavour. */
function answerOf({ answer }: ClientOperation, flavour: Flavour) {
  const { prefix } = NAMES[flavour];
  switch (answer.kind) {
    case 'json': {
      const result = pythonType(answer.type, 'types.');
      return { call: 'json', result, isPlain: false, more: [] };
    }
    case 'nothing':
      return { call: 'nothing', result: 'None', isPlain: false, more: [] };
    case 'page': {
      const name = flavour === 'blocking' ? 'Page' : 'AsyncPageRequest';
      const result = `${name}[${pythonType(answer.item, 'types.')}]`;
      return { call: 'pages', result, isPlain: true, more: [`paging="${answer.style}"`] };
    }
    case 'download': {
      const more = [`accept="${answer.contentType}"`];
      return { call: 'download', result: `${prefix}Download`, isPlain: false, more };
    }
    case 'events': {
      const more = ['accept="text/event-stream"'];
      return { call: 'live_events', result: `${prefix}LiveEvents`, isPlain: true, more };
    }
    default:
      return answer satisfies never;
  }
}

function pathText({ path }: ClientOperation): string {
  const isPlain = !path.includes('{');
  const text = path.replaceAll(
    /\{(\w+)\}/g,
    (_all, name: string) => `{segment('${snakeCase(name)}', ${snakeCase(name)})}`,
  );
  return isPlain ? `"${path}"` : `f"${text}"`;
}

function queryItems(query: readonly Field[]): string {
  return `{${query.map((field) => `"${field.name}": ${parameterName(field)}`).join(', ')}}`;
}

function parameterName({ name }: Field): string {
  const snake = snakeCase(name);
  return isKeyword(snake) ? `${snake}_` : snake;
}
