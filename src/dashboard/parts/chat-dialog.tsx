/** Tries an agent by writing: its prompt and its model answer, its tools are named and not run. */
import { useRef, useState } from 'preact/hooks';
import type { Agent, ChatAnswer } from '../api-types.ts';
import { client, formats, t } from '../app-state.ts';
import {
  type ChatEntry,
  callText,
  chatBegun,
  LETTERS_MAX,
  messagesOf,
  withAnswer,
  withWords,
} from '../chat-log.ts';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Problem } from './page.tsx';
import { StandIns } from './stand-ins.tsx';
import { useFollow } from './use-follow.ts';
import { useSubmit } from './use-load.ts';

export function ChatButton({ agent }: { readonly agent: Agent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t('chat.open')}
      </button>
      {isOpen ? <ChatDialog agent={agent} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function ChatDialog({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) {
  const [log, setLog] = useState(() => chatBegun(agent.greeting));
  const [words, setWords] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const { isBusy, error, submit } = useSubmit(async () => {
    if (words.trim() === '') return;
    const asked = withWords(log, words.trim());
    setLog(asked);
    setWords('');
    try {
      const body = { messages: messagesOf(asked) };
      const path = `api/agents/${encodeURIComponent(agent.id)}/chat`;
      const answer = await client.api<ChatAnswer>(path, { method: 'POST', body });
      setLog(withAnswer(asked, answer));
    } catch (failure) {
      // What was written goes back into the field, to be sent again.
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
    <Dialog title={t('chat.title', { name: agent.name })} onClose={onClose}>
      <p class="hint">{t('chat.hint')}</p>
      <StandIns jobs={['llm']} />
      <ChatLog log={log} isBusy={isBusy} />
      {error === undefined ? null : <Problem error={error} />}
      <form ref={form} onSubmit={submit} onKeyDown={onKeyDown} class="chat-form">
        <TextField
          label={t('chat.words')}
          value={words}
          onValue={(text) => setWords(text.slice(0, LETTERS_MAX))}
          rows={2}
        />
        <div class="actions">
          <button type="button" onClick={onClose}>
            {t('app.close')}
          </button>
          <button type="button" disabled={isBusy} onClick={() => setLog(chatBegun(agent.greeting))}>
            {t('chat.restart')}
          </button>
          <button type="submit" class="main" disabled={isBusy || words.trim() === ''}>
            {t('chat.send')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function ChatLog(props: { readonly log: readonly ChatEntry[]; readonly isBusy: boolean }) {
  const { log, isBusy } = props;
  const box = useFollow<HTMLDivElement>([log.length, isBusy]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <div class="chat-log" ref={box} role="log" tabIndex={0} aria-label={t('chat.log')}>
      <ol class="words">
        {log.map((entry, index) => (
          <li key={index} class={`said said-${entry.role}`}>
            <span class="who">{t(entry.role === 'agent' ? 'words.agent' : 'chat.you')}</span>
            <div class="text">
              {entry.text}
              {entry.toolCalls.map((call) => (
                <p key={callText(call)} class="tool-call">
                  <code>{callText(call)}</code> <span class="state">{t('chat.notRun')}</span>
                </p>
              ))}
              {entry.promptUsed === false ? (
                <p class="small warning">{t('chat.ruleBook')}</p>
              ) : null}
              <TookLine entry={entry} />
            </div>
          </li>
        ))}
      </ol>
      {isBusy ? <p class="muted">{t('chat.thinking')}</p> : null}
    </div>
  );
}

function TookLine({ entry }: { readonly entry: ChatEntry }) {
  const { tookMs, model } = entry;
  if (tookMs === undefined) return null;
  return (
    <p class="muted small took">
      {model} · {formats.value.count(Math.round(tookMs))} ms
    </p>
  );
}
