/** A command that calls an operation from a shell; pure */
import type { Description, Operation } from '../openapi/description.ts';
import { sampleOf } from '../openapi/sample-json.ts';

/** Ready to paste, once the words in capitals are replaced. */
export function curlExample(operation: Operation, description: Description): string {
  const { method, path, parameters, body } = operation;
  const base = description.servers[0]?.url ?? '';
  const headers = [
    'Authorization: Bearer API_KEY',
    ...(body === undefined ? [] : ['Content-Type: application/json']),
    ...parameters
      .filter((parameter) => parameter.in === 'header' && parameter.example !== undefined)
      .map(({ name, example }) => `${name}: ${example}`),
  ];
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(`${base}${withPlaces(path)}`)}`,
    ...headers.map((header) => `-H ${quoted(header)}`),
    ...(body === undefined
      ? []
      : [`-d ${quoted(JSON.stringify(sampleOf(body, description), null, 2))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** `/api/calls/{callId}` becomes `/api/calls/CALL_ID`. */
function withPlaces(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
