/** Reads JSON where no schema's validator does; pure */
import { ServiceError } from '../../domain/service-error.ts';
import { jsonOf } from '../../lib/json-value.ts';

/** @throws {ServiceError} VALIDATION_ERROR when it is none. */
export function parsedJson(text: string): unknown {
  const value = jsonOf(text);
  if (value === undefined) throw unreadableBody('', 'expected well-formed JSON');
  return value;
}

/** @param path of what is wrong: empty for all of the body, or the name of a header. */
export function unreadableBody(path: string, message: string): ServiceError {
  const details = [{ path, message }];
  return new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, details);
}
