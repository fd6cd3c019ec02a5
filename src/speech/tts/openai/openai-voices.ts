/** Speech synthesis over OpenAI's speech interface: OpenAI, speaches, Kokoro-FastAPI, LocalAI, vLLM and others. */
import { messageOf } from '../../../lib/unknown-value.ts';
import {
  HttpStatusError,
  limitedJson,
  operationUrl,
  request as send,
} from '../../network/speech-http.ts';
import {
  PROBE_TEXT,
  type ServerVoice,
  serverVoice,
  usableVoices,
  type VoiceRequest,
  type VoiceServer,
  type VoiceServerOptions,
} from '../network/voice-server.ts';
import { LinePcm } from '../pool/line-pcm.ts';

/** OpenAI's names, which others take as aliases of theirs. */
const DEFAULT_MODEL = 'tts-1';
const DEFAULT_VOICE = 'alloy';

/** Rate of `response_format: pcm`. speaches has the model's own rate unless `sample_rate` says otherwise. */
const RATE_HZ = 24_000;

/** Paths at which servers list their voices: Kokoro-FastAPI and speaches; older versions of speaches. */
const VOICE_LISTS = ['audio/voices', 'audio/speech/voices'] as const;

/** Makes a server. It is not connected to before the first request. */
export function openAiVoices(
  address: string,
  { model = DEFAULT_MODEL, apiKey }: VoiceServerOptions,
): VoiceServer {
  return new OpenAiVoices(address, model, apiKey);
}

/** @see OpenAI API reference, "Create speech" */
class OpenAiVoices implements VoiceServer {
  readonly address: string;
  readonly #model: string;
  readonly #apiKey: string | undefined;
  #voices: readonly ServerVoice[] = [];
  /** False once the server has refused the field, which OpenAI does not have. */
  #takesRate = true;

  constructor(address: string, model: string, apiKey: string | undefined) {
    this.address = address;
    this.#model = model;
    this.#apiKey = apiKey;
  }

  get voices(): readonly ServerVoice[] {
    return this.#voices;
  }

  async probe(signal: AbortSignal): Promise<void> {
    this.#voices = await this.#listVoices(signal);
    const voice = this.#voices[0]?.name;
    let samples = 0;
    for await (const pcm of this.speak({ text: PROBE_TEXT, voice, signal })) samples += pcm.length;
    if (samples === 0) throw new Error('it sent no audio');
  }

  async *speak(request: VoiceRequest): AsyncIterable<Int16Array> {
    const response = await this.#ask(request);
    const pcm = new LinePcm({ rateHz: RATE_HZ, channels: 1 });
    try {
      for await (const bytes of response.body ?? []) {
        const line = pcm.push(bytes);
        if (line.length > 0) yield line;
      }
    } catch (error) {
      request.signal.throwIfAborted();
      const isCut = error instanceof TypeError;
      throw isCut ? new Error('its audio broke off', { cause: error }) : error;
    }
    yield pcm.flush();
  }

  async #ask(request: VoiceRequest): Promise<Response> {
    const hadRate = this.#takesRate;
    try {
      return await this.#post(request, hadRate);
    } catch (error) {
      const isRefusal =
        error instanceof HttpStatusError && (error.status === 400 || error.status === 422);
      if (!isRefusal || !hadRate) throw error;
      const response = await this.#post(request, false);
      this.#takesRate = false;
      return response;
    }
  }

  #post({ text, voice, signal }: VoiceRequest, hasRate: boolean): Promise<Response> {
    const body = {
      model: this.#model,
      input: text,
      voice: voice ?? DEFAULT_VOICE,
      response_format: 'pcm',
      ...(hasRate && { sample_rate: RATE_HZ }),
    };
    return send(operationUrl(this.address, 'audio/speech'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
      apiKey: this.#apiKey,
    });
  }

  /** The list is no part of OpenAI's interface: a server without it has none. */
  async #listVoices(signal: AbortSignal): Promise<readonly ServerVoice[]> {
    for (const path of VOICE_LISTS) {
      try {
        const url = operationUrl(this.address, path);
        return voicesIn(await limitedJson(await send(url, { signal, apiKey: this.#apiKey })));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof HttpStatusError))
          throw new Error(messageOf(error), { cause: error });
      }
    }
    return [];
  }
}

/** Reads Kokoro-FastAPI's and speaches' lists, bare or under `voices`: names, or objects with `id` or `name`. */
function voicesIn(answer: unknown): readonly ServerVoice[] {
  const { voices } = (answer ?? {}) as { readonly voices?: unknown };
  const list = Array.isArray(answer) ? answer : voices;
  const entries = Array.isArray(list) ? list : [];
  return usableVoices(
    entries.flatMap((entry: unknown) => {
      if (typeof entry === 'string') return serverVoice({ name: entry });
      const fields = (entry ?? {}) as Readonly<Record<string, unknown>>;
      const name = fields.id ?? fields.voice_id ?? fields.name;
      if (typeof name !== 'string') return [];
      const { language, gender } = fields;
      return serverVoice({
        name,
        language: typeof language === 'string' ? language : undefined,
        gender: typeof gender === 'string' ? gender : undefined,
      });
    }),
  );
}
