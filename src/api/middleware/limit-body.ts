/** Refuses bodies that no honest request has. */
import { bodyLimit } from 'hono/body-limit';
import { ServiceError } from '../../domain/service-error.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** 1 MiB at most, whether the length is announced or not. */
export const limitBody = bodyLimit({
  maxSize: BODY_BYTES_MAX,
  onError: (context) => {
    // The rest of the body stays unread, so the connection cannot carry another request.
    context.header('Connection', 'close');
    const message = 'expected 1 MiB at most';
    throw new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, [
      { path: '', message },
    ]);
  },
});
