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
import { DialogButton } from './dialog.tsx';
import { TextField } from './field.tsx';
import { useSubmit } from './form.tsx';
import { Button, Problem } from './page.tsx';
import { StandIns } from './stand-ins.tsx';
import { useFollow } from './use-follow.ts';

export function ChatButton({ agent }: { readonly agent: Agent }) {
  return (
    <DialogButton
      needs="editor"
      label={t('chat.open')}
      title={t('chat.title', { name: agent.name })}
    >
      {(close) => <Chat agent={agent} onClose={close} />}
    </DialogButton>
  );
}

function Chat({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) {
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
    <>
      <p class="hint">{t('chat.hint')}</p>
      <StandIns jobs={['llm']} />
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
          <Button text={t('app.close')} onClick={onClose} />
          <Button
            text={t('chat.restart')}
            disabled={isBusy}
            onClick={() => setLog(chatBegun(agent.greeting))}
          />
          <button type="submit" class="main" disabled={isBusy || words.trim() === ''}>
            {t('chat.send')}
          </button>
        </div>
      </form>
    </>
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
            <span class="who">{t(entry.role === 'agent' ? 'field.agent' : 'chat.you')}</span>
            <div class="text">
              {entry.text}
              {entry.toolCalls.map((call) => (
                <p key={callText(call)} class="tool-call">
                  <code>{callText(call)}</code> <span class="state plain">{t('chat.notRun')}</span>
                </p>
              ))}
              {entry.promptUsed === false && <p class="small box busy">{t('chat.ruleBook')}</p>}
              {entry.tookMs !== undefined && (
                <p class="muted small took">
                  {entry.model} · {formats.value.count(Math.round(entry.tookMs))} ms
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
      {isBusy && <p class="muted">{t('chat.thinking')}</p>}
    </div>
  );
}
