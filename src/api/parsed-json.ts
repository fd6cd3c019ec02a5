/** Reads JSON where no schema's validator does; pure */
import { HTTPException } from 'hono/http-exception';

/** @throws {HTTPException} 400 when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HTTPException(400, { cause: error });
  }
}
