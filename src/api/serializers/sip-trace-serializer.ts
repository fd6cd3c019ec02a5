/** The SIP messages of a call as customers see them; pure */
import type { z } from '@hono/zod-openapi';
import type { CallSipTrace, SipTraceMessage } from '../../domain/call/sip-trace.ts';
import type { sipLadderSchema } from '../schemas/sip-trace-schemas.ts';

type LadderView = z.infer<typeof sipLadderSchema>;

export function serializeSipTrace({
  messages,
  isTruncated,
  source,
  note,
}: CallSipTrace): LadderView {
  return { messages: messages.map(messageView), truncated: isTruncated, source, note };
}

function messageView(message: SipTraceMessage): LadderView['messages'][number] {
  const { at, direction, transport, from, to, text } = message;
  const [head = '', ...body] = text.split('\r\n\r\n');
  const hasBody = body.some((part) => part !== '');
  return {
    at: at.toISOString(),
    direction,
    transport,
    from,
    to,
    startLine: head.split('\r\n', 1)[0] ?? '',
    cseq: headerOf(head, 'cseq') ?? '',
    body: hasBody ? (headerOf(head, 'content-type|c') ?? null) : null,
    text,
  };
}

/** The value of the first header of one of these names, `long|short`. */
function headerOf(head: string, names: string): string | undefined {
  return new RegExp(`^(?:${names})[ \\t]*:[ \\t]*([^\\r\\n]*)`, 'im').exec(head)?.[1]?.trim();
}
