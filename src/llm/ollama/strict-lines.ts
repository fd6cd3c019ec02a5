/** Makes a stream of JSON lines fail on a line that is none; the client would print the line and go on. */
import { LanguageModelError } from '../language-model.ts';

/** A line is one token and its wrapping; a server that sends more than this at once is not Ollama. */
const LINE_LENGTH_MAX = 1_000_000;

/** Checks a streamed answer line by line as it is read. Other answers pass as they are. */
export function strictLines(response: Response, server: string): Response {
  const isStream = response.headers.get('content-type')?.includes('ndjson') ?? false;
  if (!isStream || response.body === null) return response;

  const decoder = new TextDecoder();
  let rest = '';
  const check = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (lines.every(isJson) && rest.length <= LINE_LENGTH_MAX) controller.enqueue(chunk);
      else controller.error(new LanguageModelError(`Cannot use ${server}: its answer is no JSON`));
    },
    flush(controller) {
      if (isJson(rest)) return;
      controller.error(new LanguageModelError(`Cannot use ${server}: its answer was cut off`));
    },
  });
  return new Response(response.body.pipeThrough(check), response);
}

function isJson(line: string): boolean {
  if (line.trim() === '') return true;
  try {
    JSON.parse(line);
    return true;
  } catch {
    // A line that cannot be read is the very thing asked about.
    return false;
  }
}
