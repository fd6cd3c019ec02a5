/** The signalling of a call as a ladder between the carrier and us; each rung opens to the message itself. */
import { useEffect, useRef } from 'preact/hooks';
import type { SipLog } from '../api-types.ts';
import { formats, sentence, t } from '../app-state.ts';
import { ladderOf, type Rung } from '../ladder.ts';
import { type Loaded, useApi } from '../parts/use-load.ts';

/** The answer to a BYE comes after the call is over, and a lost BYE is repeated 0.5 and 1.5 s later. RFC 3261, 17.1.2.2. */
const LATE_MS = 2500;

/** @param status of the call: each change has brought messages. */
export function useSipLog(callId: string, status: string): Loaded<SipLog> {
  const loaded = useApi<SipLog>(`api/calls/${callId}/sip`, {}, { round: status });
  const before = useRef(status);
  useEffect(() => {
    if (status === before.current) return;
    before.current = status;
    const timer = setTimeout(loaded.reload, LATE_MS);
    return () => clearTimeout(timer);
  }, [status]);
  return loaded;
}

export function SipLadder({ log: { messages, truncated, note } }: { readonly log: SipLog }) {
  return (
    <>
      <Ladder rungs={ladderOf(messages)} />
      {truncated && <p class="muted">{t('ladder.truncated')}</p>}
      {note && <p class="muted">{sentence(note)}</p>}
    </>
  );
}

function Ladder({ rungs }: { readonly rungs: readonly Rung[] }) {
  return (
    <>
      <p class="ladder-ends" aria-hidden="true">
        <span>{t('ladder.carrier')}</span>
        <span>{t('ladder.us')}</span>
      </p>
      <ol class="ladder" aria-label={t('ladder.label')}>
        {rungs.map((rung, index) => (
          <li key={`${rung.atMs} ${index}`}>
            <details>
              <summary>
                <span class="number">{formats.value.ms(rung.atMs)}</span>
                <span class="unseen">{wayOf(rung)}</span>
                <span class={`rung rung-${rung.message.direction} ${rung.tone}`}>
                  {rung.title}
                  <Arrow />
                </span>
              </summary>
              <p class="small muted">{placesOf(rung)}</p>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
              <pre tabIndex={0}>{rung.message.text}</pre>
            </details>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Direction of a message in words, for readers who do not see the arrow. */
function wayOf({ message }: Rung): string {
  return t(message.direction === 'out' ? 'ladder.sent' : 'ladder.received');
}

function placesOf({ message }: Rung): string {
  const { from, to, transport, body } = message;
  return [`${from} → ${to}`, transport, ...(body === null ? [] : [body])].join(' · ');
}

/** Arrow of a sent message, as wide as there is room; that of a received one is its mirror image. */
function Arrow() {
  return (
    <svg class="arrow" aria-hidden="true">
      <line x1="1" x2="100%" y1="6" y2="6" />
      <path d="M8 1 L1 6 L8 11" />
    </svg>
  );
}
