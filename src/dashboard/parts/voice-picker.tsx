/** Chooses a voice, and lets it be heard first. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Voice } from '../api-types.ts';
import { client, complain, formats, t } from '../app-state.ts';
import { SelectField } from './field.tsx';
import { Button } from './page.tsx';
import { useLoad } from './use-load.ts';

const VOICES_MAX = 2000;

export function VoicePicker(props: {
  readonly value: string;
  readonly error: string | undefined;
  readonly onVoice: (voice: Voice) => void;
}) {
  const { value: voices = [] } = useLoad(['voices'], (signal) =>
    client.all<Voice>('api/voices', VOICES_MAX, { signal }),
  );
  const known = voices.find(({ id }) => id === props.value);
  const options = voices.map((voice) => [voice.id, textOf(voice)] as const);
  return (
    <div class="voice">
      <SelectField
        label={t('agent.voice')}
        error={props.error}
        hint={known?.isFallback ? t('agent.fallback', { engine: known.engine }) : undefined}
        value={props.value}
        options={known === undefined ? [[props.value, props.value], ...options] : options}
        onValue={(id) => {
          const voice = voices.find((one) => one.id === id);
          if (voice !== undefined) props.onVoice(voice);
        }}
      />
      <Preview voiceId={props.value} />
    </div>
  );
}

function textOf({ name, locale, gender }: Voice): string {
  return `${formats.value.language(locale)} · ${name} (${t(`voice.${gender}`)})`;
}

/** The key goes with the request, so that the sound comes as a file of the page's own. */
function Preview({ voiceId }: { readonly voiceId: string }) {
  const [url, setUrl] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const player = useRef<HTMLAudioElement>(null);
  useEffect(() => setUrl(undefined), [voiceId]);
  useEffect(() => {
    if (url === undefined) return;
    player.current?.play().catch(() => undefined);
    return () => URL.revokeObjectURL(url);
  }, [url]);
  const hear = () => {
    setBusy(true);
    client
      .open(`api/voices/${encodeURIComponent(voiceId)}/preview`)
      .then(async (response) => setUrl(URL.createObjectURL(await response.blob())))
      .catch(complain)
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Button text={t('agent.preview')} disabled={isBusy} onClick={hear} />
      {url !== undefined && (
        // biome-ignore lint/a11y/useMediaCaption: a sample of a voice says nothing that would have to be read.
        <audio ref={player} src={url} controls aria-label={t('agent.preview')} />
      )}
    </>
  );
}
