/** Controls for a call in progress: listen in, take it over, hang up. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiClient } from '../api-client.ts';
import { client, complain, message, say, t } from '../app-state.ts';
import { keep, kept, WINDOW } from '../kept.ts';
import { SoundSchedule, type StereoSound, WavStreamReader } from '../wav-stream.ts';
import { ConfirmButton, DialogButton, Question } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Form, useForm } from './form.tsx';
import { Button } from './page.tsx';

/** @param props.isAnswered a ringing call has no sound and cannot be transferred. */
export function CallControls(props: { readonly callId: string; readonly isAnswered: boolean }) {
  const { callId, isAnswered } = props;
  return (
    <>
      {isAnswered && <ListenIn callId={callId} />}
      {isAnswered && (
        <DialogButton label={t('transfer.title')} class="take-over" needs="editor">
          {(close) => <TransferForm callId={callId} onClose={close} />}
        </DialogButton>
      )}
      <ConfirmButton
        needs="editor"
        class="danger hang-up"
        label={t('live.hangUp')}
        question={t('live.hangUpQuestion')}
        done={t('live.hungUp')}
        onConfirm={() => client.api(`api/calls/${callId}/hangup`, { method: 'POST' })}
      />
    </>
  );
}

type State = 'off' | 'connecting' | 'heard';

/** Listening in on a call in progress, after a notice about the law. */
function ListenIn({ callId }: { readonly callId: string }) {
  const [state, setState] = useState<State>('off');
  const stopped = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stopped.current?.abort(), []);
  const stop = () => {
    stopped.current?.abort();
    setState('off');
  };
  const start = () => {
    const own = new AbortController();
    stopped.current = own;
    setState('connecting');
    const listener = {
      onHeard: () => {
        if (!own.signal.aborted) setState('heard');
      },
    };
    listenIn(client, callId, listener, own.signal)
      .catch(complain)
      .finally(() => {
        if (!own.signal.aborted) setState('off');
      });
  };
  if (state === 'off') {
    return (
      <DialogButton label={t('listen.title')} class="listen">
        {(close) => (
          <Question
            text={t('listen.consent')}
            yes={t('listen.start')}
            class="main"
            onNo={close}
            onYes={start}
          />
        )}
      </DialogButton>
    );
  }
  return (
    <>
      <Button class="danger listen" text={t('listen.stop')} onClick={stop} />
      <span class="state busy listen-state" role="status">
        {t(state === 'heard' ? 'listen.heard' : 'listen.connecting')}
      </span>
    </>
  );
}

/** Remembered as long as the browser's window, and no longer: it is somebody's number. */
const REMEMBERED = 'transferTo';

/** Takes a call over: transfers it to the operator's number. */
function TransferForm(props: { readonly callId: string; readonly onClose: () => void }) {
  const { callId, onClose } = props;
  const form = useForm({ to: kept(WINDOW, REMEMBERED) ?? '' }, async (typed) => {
    const body = { to: typed.to.replace(/[\s()/.-]/g, '') };
    const before = message.value;
    await client.api(`api/calls/${callId}/transfer`, { method: 'POST', body });
    keep(WINDOW, REMEMBERED, body.to);
    // The live view has already shown a transfer that failed at once.
    if (message.value === before) say(t('transfer.done'));
    onClose();
  });
  return (
    <Form form={form} label={t('transfer.send')} onCancel={onClose}>
      <p>{t('transfer.text')}</p>
      <TextField type="tel" {...form.field('to', 'transfer.to', 'transfer.hint')} />
    </Form>
  );
}

const CALL_RATE_HZ = 8000;

/** Time without data after which the connection is dead: silence is sent as sound. */
const SILENT_MS_MAX = 15_000;

/**
 * Resolves when the call, or `signal`, ends it. Call it from a click: browsers block sound without one.
 *
 * @throws {ApiError} when the server gives no sound.
 */
async function listenIn(
  client: ApiClient,
  callId: string,
  listener: { readonly onHeard: () => void },
  signal: AbortSignal,
): Promise<void> {
  // At the rate of the call, so that pieces meet without a seam: the browser converts the whole, and not each.
  const speaker = new AudioContext({ sampleRate: CALL_RATE_HZ });
  try {
    const response = await client.open(`api/live/calls/${callId}/audio`, { signal });
    await play(response, speaker, listener.onHeard, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await speaker.close();
  }
}

async function play(
  response: Response,
  speaker: AudioContext,
  onHeard: () => void,
  signal: AbortSignal,
): Promise<void> {
  const pieces = response.body?.getReader();
  if (pieces === undefined) return;
  const wav = new WavStreamReader();
  const schedule = new SoundSchedule();
  while (!signal.aborted) {
    const timer = setTimeout(() => void pieces.cancel(), SILENT_MS_MAX);
    const { done, value } = await pieces.read().finally(() => clearTimeout(timer));
    if (done) return;
    const sound = wav.push(value);
    if (sound.caller.length === 0) continue;
    sayTo(speaker, sound, schedule, wav.rateHz ?? CALL_RATE_HZ);
    onHeard();
  }
  await pieces.cancel();
}

/** The caller to the left ear, the agent to the right, as in the recording. */
function sayTo(
  speaker: AudioContext,
  { caller, agent }: StereoSound,
  schedule: SoundSchedule,
  rateHz: number,
): void {
  const startsAt = schedule.place(speaker.currentTime, caller.length / rateHz);
  if (startsAt === undefined) return;
  const buffer = speaker.createBuffer(2, caller.length, rateHz);
  buffer.copyToChannel(caller, 0);
  buffer.copyToChannel(agent, 1);
  const source = speaker.createBufferSource();
  source.buffer = buffer;
  source.connect(speaker.destination);
  source.start(startsAt);
}
