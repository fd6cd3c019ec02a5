/** Chooses a voice: language first, then by name; each can be heard, and says which engine speaks it on this server. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Voice } from '../api-types.ts';
import { client, complain, formats, t } from '../app-state.ts';
import { Dialog } from '../parts/dialog.tsx';
import { type Option, SelectField, TextField } from '../parts/field.tsx';
import { Button } from '../parts/page.tsx';
import { useLoad } from '../parts/use-load.ts';
import { foundVoices, languagesOf } from './voice-search.ts';

const VOICES_MAX = 2000;

/** More rows than that are found by typing. */
const SHOWN_MAX = 40;

export function VoicePicker(props: {
  readonly value: string;
  /** Language of the agent: its voices come first. */
  readonly language: string;
  readonly error: string | undefined;
  readonly onVoice: (voice: Voice) => void;
}) {
  const { value: id, language, error } = props;
  const [isOpen, setOpen] = useState(false);
  const voices = useVoices();
  const player = useVoicePlayer();
  const known = voices.find((voice) => voice.id === id);
  return (
    <fieldset class="voice">
      <legend>{t('agent.voice')}</legend>
      <p class="voice-name">{known === undefined ? id : textOf(known)}</p>
      {error !== undefined && <p class="wrong">{error}</p>}
      {known !== undefined && <p class="hint">{engineText(known)}</p>}
      <div class="actions">
        <Button text={t('agent.changeVoice')} onClick={() => setOpen(true)} />
        <Button
          text={t('agent.preview')}
          disabled={player.isBusy}
          onClick={() => player.play(id)}
        />
      </div>
      {!isOpen && player.audio}
      {isOpen && (
        <Dialog title={t('agent.changeVoice')} onClose={() => setOpen(false)}>
          <VoiceList
            voices={voices}
            chosen={id}
            language={language}
            onVoice={(voice) => {
              props.onVoice(voice);
              setOpen(false);
            }}
          />
        </Dialog>
      )}
    </fieldset>
  );
}

/** All voices of the server; none while they are not known. */
export function useVoices(): readonly Voice[] {
  const { value } = useLoad(['voices'], (signal) =>
    client.all<Voice>('api/voices', VOICES_MAX, { signal }),
  );
  return value ?? [];
}

function VoiceList(props: {
  readonly voices: readonly Voice[];
  readonly chosen: string;
  readonly language: string;
  readonly onVoice: (voice: Voice) => void;
}) {
  const { voices, chosen } = props;
  const languages = languagesOf(voices);
  const own = props.language.split('-')[0]?.toLowerCase() ?? '';
  const [language, setLanguage] = useState(languages.includes(own) ? own : '');
  const [text, setText] = useState('');
  const player = useVoicePlayer();
  const found = foundVoices(voices, { language, text });
  // The window lies in the agent's form, which Enter would send.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault();
  };
  return (
    <>
      <search class="pair" onKeyDown={onKeyDown}>
        <SelectField
          label={t('agent.language')}
          value={language}
          options={[['', t('voice.anyLanguage')], ...languageOptions(languages)]}
          onValue={setLanguage}
        />
        <TextField label={t('voice.search')} type="search" value={text} onValue={setText} />
      </search>
      <ul class="voices">
        {found.slice(0, SHOWN_MAX).map((voice) => (
          <li key={voice.id} class="voice-row">
            <button
              type="button"
              class="voice-choice"
              aria-pressed={voice.id === chosen}
              onClick={() => props.onVoice(voice)}
            >
              <strong>{textOf(voice)}</strong>
              <span class="small">{engineText(voice)}</span>
            </button>
            <Button
              text="▶"
              aria-label={t('voice.play', { name: voice.name })}
              disabled={player.isBusy}
              onClick={() => player.play(voice.id)}
            />
          </li>
        ))}
      </ul>
      <p class="hint" role="status">
        {found.length > SHOWN_MAX
          ? t('voice.more', { count: found.length - SHOWN_MAX })
          : t('voice.found', { count: found.length })}
      </p>
      {player.audio}
    </>
  );
}

function languageOptions(languages: readonly string[]): readonly Option[] {
  const named = languages.map((code) => [code, formats.value.language(code)] as const);
  return named.sort(([, one], [, other]) => one.localeCompare(other));
}

function textOf({ name, locale, gender }: Voice): string {
  return `${name} · ${formats.value.language(locale)} · ${t(`voice.${gender}`)}`;
}

function engineText({ engine, isFallback }: Voice): string {
  return t(isFallback ? 'agent.fallback' : 'voice.engine', { engine });
}

/** Plays the sample of one voice at a time. The key goes with the request, so that the sound comes as a file of the page's own. */
function useVoicePlayer() {
  const [url, setUrl] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const element = useRef<HTMLAudioElement>(null);
  useEffect(() => {
    if (url === undefined) return;
    // Where the browser blocks autoplay, the reader uses the controls.
    element.current?.play().catch(() => undefined);
    return () => URL.revokeObjectURL(url);
  }, [url]);
  const play = (voiceId: string) => {
    setBusy(true);
    client
      .open(`api/voices/${encodeURIComponent(voiceId)}/preview`)
      .then(async (response) => setUrl(URL.createObjectURL(await response.blob())))
      .catch(complain)
      .finally(() => setBusy(false));
  };
  const audio = url !== undefined && (
    // biome-ignore lint/a11y/useMediaCaption: a sample of a voice says nothing that would have to be read.
    <audio ref={element} src={url} controls aria-label={t('agent.preview')} />
  );
  return { play, isBusy, audio };
}
