/** Tries the agent next to its settings: in a written chat and by phone, with the time that each answer took. */
import { useRef, useState } from 'preact/hooks';
import type { Agent, ChatAnswer } from '../api-types.ts';
import { client, formats, t } from '../app-state.ts';
import { isOver } from '../live-state.ts';
import { TalkButton } from '../parts/call-buttons.tsx';
import { TextField } from '../parts/field.tsx';
import { useSubmit } from '../parts/form.tsx';
import { Button, Problem, Section, Shown } from '../parts/page.tsx';
import { useFollow } from '../parts/use-follow.ts';
import { useCallRecord } from '../parts/use-load.ts';
import { Waterfall } from '../parts/waterfall.tsx';
import { recordingOriginMs } from '../time-line.ts';
import { agentWithDraft, type SeenAgent } from './agent-changes.ts';
import {
  type ChatEntry,
  callText,
  chatBegun,
  LETTERS_MAX,
  messagesOf,
  type StageName,
  stagesOf,
  withAnswer,
  withWords,
} from './chat-log.ts';

/** Tries the draft where there is one, else the live agent. */
export function TestPanel(props: {
  readonly seen: SeenAgent;
  /** Whether the form next to it has changes that the test does not include. */
  readonly isChanged: boolean;
}) {
  const { seen, isChanged } = props;
  const [callId, setCallId] = useState<string | undefined>(undefined);
  const isDraft = seen.draft !== undefined;
  const agent = agentWithDraft(seen);
  const name = isDraft ? t('try.draftName', { name: agent.name }) : agent.name;
  const talk = <TalkButton agent={{ id: agent.id, name, isDraft }} onCall={setCallId} />;
  return (
    <aside class="pane-test" aria-label={t('try.title')}>
      <Section title={t('chat.open')} actions={talk}>
        <p class={isChanged ? 'box busy small' : 'muted small'} role="status">
          {t(isDraft ? 'try.draft' : 'try.live')}
          {isChanged && ` ${t('try.unsavedAgent')}`}
        </p>
        {/* Another greeting begins another chat. */}
        <Chat key={`${isDraft} ${agent.greeting}`} agent={agent} isDraft={isDraft} />
      </Section>
      {callId !== undefined && <TestCall key={callId} callId={callId} />}
    </aside>
  );
}

/** Interval of updates while the call is in progress. */
const REFRESH_MS = 2000;

/** Time of each turn of the newest test call, by stage. */
function TestCall({ callId }: { readonly callId: string }) {
  const loaded = useCallRecord(callId, {
    refreshMs: REFRESH_MS,
    isLast: ({ call }) => isOver(call),
  });
  return (
    <Section title={t('try.call')} actions={<a href={`#/calls/${callId}`}>{t('phone.record')}</a>}>
      <Shown loaded={loaded}>
        {({ call, timeline }) => (
          <Waterfall entries={timeline} originMs={recordingOriginMs(timeline, call.startedAt)} />
        )}
      </Shown>
    </Section>
  );
}

function Chat(props: {
  readonly agent: Agent;
  /** Whether its draft answers. */
  readonly isDraft: boolean;
}) {
  const { agent, isDraft } = props;
  const [log, setLog] = useState(() => chatBegun(agent.greeting));
  const [words, setWords] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const { isBusy, error, submit } = useSubmit(async () => {
    if (words.trim() === '') return;
    const asked = withWords(log, words.trim());
    setLog(asked);
    setWords('');
    try {
      const body = { messages: messagesOf(asked), ...(isDraft && { draft: true }) };
      const path = `api/agents/${encodeURIComponent(agent.id)}/chat`;
      const answer = await client.api<ChatAnswer>(path, { method: 'POST', body });
      setLog(withAnswer(asked, answer));
    } catch (failure) {
      // The failed message goes back into the field, to be sent again.
      setLog(log);
      setWords(words);
      throw failure;
    }
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.current?.requestSubmit();
  };
  return (
    <>
      <p class="hint">{t('chat.hint')}</p>
      <ChatLog log={log} isBusy={isBusy} />
      <Problem error={error} />
      <form ref={form} onSubmit={submit} onKeyDown={onKeyDown} class="chat-form">
        <TextField
          label={t('chat.words')}
          value={words}
          onValue={(text) => setWords(text.slice(0, LETTERS_MAX))}
          rows={2}
        />
        <div class="actions">
          <button type="submit" class="main" disabled={isBusy || words.trim() === ''}>
            {t('chat.send')}
          </button>
          <Button
            text={t('chat.restart')}
            disabled={isBusy}
            onClick={() => setLog(chatBegun(agent.greeting))}
          />
        </div>
      </form>
    </>
  );
}

function ChatLog(props: { readonly log: readonly ChatEntry[]; readonly isBusy: boolean }) {
  const { log, isBusy } = props;
  const box = useFollow<HTMLDivElement>([log.length, isBusy]);
  const longestMs = Math.max(1, ...log.map(({ took }) => took?.tookMs ?? 0));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <div class="chat-log" ref={box} role="log" tabIndex={0} aria-label={t('chat.log')}>
      <ol class="words">
        {log.map((entry, index) => (
          <li key={index} class={`said said-${entry.role}`}>
            <span class="who">{t(entry.role === 'agent' ? 'field.agent' : 'chat.you')}</span>
            <div class="text">
              {entry.text}
              {entry.toolCalls.map((call) => (
                <p key={callText(call)} class="tool-call">
                  <code>{callText(call)}</code> <span class="state plain">{t('chat.notRun')}</span>
                </p>
              ))}
              {entry.promptUsed === false && <p class="small box busy">{t('chat.ruleBook')}</p>}
              {entry.took !== undefined && (
                <Took entry={entry} took={entry.took} longestMs={longestMs} />
              )}
            </div>
          </li>
        ))}
      </ol>
      {isBusy && <p class="muted">{t('chat.thinking')}</p>}
    </div>
  );
}

/** The colours of the waterfall of a call. */
const COLORS: Readonly<Record<StageName, string>> = {
  prepared: '#6b7f86',
  firstToken: 'var(--model)',
  restOfAnswer: '#b0568f',
};

const WIDTH = 300;

/** Time of an answer by stage: bars to the scale of the slowest one, and the same in words. */
function Took(props: {
  readonly entry: ChatEntry;
  readonly took: NonNullable<ChatEntry['took']>;
  readonly longestMs: number;
}) {
  const { entry, took, longestMs } = props;
  const x = (ms: number) => (ms / longestMs) * WIDTH;
  const { ms } = formats.value;
  const stages = stagesOf(took);
  const told = stages.map(({ name, fromMs, toMs }) => `${t(`chat.${name}`)} ${ms(toMs - fromMs)}`);
  return (
    <div class="took">
      <svg viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
        {stages.map(({ name, fromMs, toMs }) => (
          <rect
            key={name}
            x={x(fromMs)}
            y="0"
            width={Math.max(1, x(toMs) - x(fromMs))}
            height="8"
            fill={COLORS[name]}
          />
        ))}
      </svg>
      <p class="muted small">{`${entry.model} · ${ms(took.tookMs)} · ${told.join(' · ')}`}</p>
    </div>
  );
}
