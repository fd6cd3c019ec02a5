/** Meaning of each setting, in the groups of `--help` and the reference; pure */
import type { Config } from './config.ts';

type Meanings = Readonly<Partial<Record<keyof Config, string>>>;

/** Group to setting to meaning: a phrase without a full stop. Every setting is in one group. */
export const SETTING_MEANINGS: Readonly<Record<string, Meanings>> = {
  'REST interface, data and log': {
    HOST: 'address of the REST interface and the dashboard',
    PORT: 'port of the REST interface and the dashboard',
    PUBLIC_URL: 'base of the links handed out; http://localhost:PORT unless given',
    TRUSTED_PROXIES: 'addresses of the TLS proxy in front, whose X-Forwarded-For is believed',
    DATA_DIR: 'folder of the database and the recordings',
    DATABASE_URL: 'path of the database file; offhook.db in DATA_DIR unless given',
    SECRETS_KEY:
      'key that encrypts passwords and secret headers in the database; DATA_DIR/secrets.key unless given',
    DISK_FREE_MIN_MB:
      'free disk space in MB below which no new recording begins and /readyz is 503; 0 for no limit',
    LOG_LEVEL: 'least level that is logged',
    LOG_FORMAT: 'auto is text on a terminal and JSON lines elsewhere',
    BOOTSTRAP_LIVE_KEY: 'live API key made at the first start; generated unless given',
    BOOTSTRAP_TEST_KEY: 'test API key made at the first start; generated unless given',
    DRAIN_TIMEOUT_SECONDS: 'how long calls may finish after SIGTERM',
  },
  'SIP and audio': {
    TELEPHONY: 'the SIP engine in this process, or drachtio-server',
    MEDIA:
      'where the RTP of carriers ends: in this process or in FreeSWITCH; direct with TELEPHONY=embedded, else freeswitch',
    PUBLIC_ADDRESS:
      'behind NAT, the address or name that carriers see, in SIP and SDP; auto learns it from their responses',
    STUN_SERVER: 'with PUBLIC_ADDRESS=auto, a STUN server that is asked for the address as well',
    SIP_HOST: 'address that the embedded SIP engine listens at',
    SIP_PORT: 'port of SIP over UDP and TCP',
    SIP_TLS_PORT: 'port of SIP over TLS; open only with a certificate and key',
    SIP_TLS_CERT: 'PEM file of the certificate with its chain',
    SIP_TLS_KEY: 'PEM file of the private key',
    SIP_TLS_CA: 'PEM file of certificate authorities of carriers besides the well-known ones',
    SIP_TLS_VERIFY_CLIENTS:
      'whether a peer that connects must have a certificate by an authority in SIP_TLS_CA',
    SIP_TRUNKS: 'file that describes the carriers',
    SIP_PHONES: 'file that describes telephones that register here',
    SIP_STRANGERS: 'what SIP from hosts that no trunk allows gets: no answer, or 403',
    RTP_PORTS: 'UDP ports of audio',
    MAX_CALLS: 'calls at a time',
    HOLD_MUSIC_FILE:
      'WAV file of 16-bit PCM that callers hear during a transfer; the ringing tone of the called country unless given',
  },
  'drachtio-server and FreeSWITCH': {
    DRACHTIO_HOST: 'drachtio-servers, with port and weight where wanted',
    DRACHTIO_PORT: 'port of a drachtio-server that is named without one',
    DRACHTIO_SECRET: 'password of drachtio-server',
    FREESWITCH_HOST: 'FreeSWITCH servers, with port and weight where wanted',
    FREESWITCH_PORT: 'port of the event socket of a FreeSWITCH that is named without one',
    FREESWITCH_SECRET: 'password of the event socket',
  },
  'Speech models': {
    MODELS_DIR: 'folder of the models',
    MODELS_PROFILE: 'which models npm run models downloads',
    MODELS_BASE_URL: "mirror to download from instead of the models' own sources",
    HF_TOKEN: 'Hugging Face token for downloads; sent to https://huggingface.co only',
    ONNX_PROVIDERS:
      'where recognisers and neural voices run: a list separated by commas, best first',
    VAD: 'voice activity detector; auto takes the best that is installed',
    TURN: 'model for the end of a turn; auto takes it where it is installed',
    STT: 'speech recogniser; auto takes the best that is installed',
    STT_URL: 'speech servers that recognise, for STT=openai or wyoming',
    STT_MODEL: "that server's name of the model; whisper-1 for openai unless given",
    STT_API_KEY: 'API key of that server',
    STT_TIMEOUT_MS: 'wait for its text in milliseconds before the local engine is used',
    TTS: 'speech synthesiser; auto takes the best that is installed',
    TTS_URL: 'speech servers that synthesise, for TTS=openai or wyoming',
    TTS_MODEL: "that server's name of the model; tts-1 for openai unless given",
    TTS_VOICE: 'voice for agents whose voice that server does not have',
    TTS_API_KEY: 'API key of that server',
    TTS_TIMEOUT_MS: 'wait for its first sound in milliseconds before the local engine is used',
  },
  'Language model': {
    LLM: 'language model servers, best first; auto takes what answers',
    LLM_CONTEXT_TOKENS:
      "the model's window in tokens; longer calls are summed up to stay within it",
    LLM_FIRST_TOKEN_MS: 'wait for the first piece of an answer in milliseconds',
    LLM_NEXT_TOKEN_MS: 'wait between two pieces of an answer in milliseconds',
    LLM_WARM_PREFIX: 'whether the model reads the prompt while the greeting plays',
    OLLAMA_HOST: 'address of Ollama',
    OLLAMA_MODEL: 'model that Ollama runs',
    OPENAI_BASE_URL: 'address of any server with the OpenAI interface, with /v1 where it has one',
    OPENAI_MODEL: 'model of that server',
    OPENAI_API_KEY: 'API key of that server',
    LLAMA_CPP_DIR:
      'folder in which node-llama-cpp is installed; llama-cpp in MODELS_DIR unless given',
    LLAMA_CPP_MODEL: 'model inside this server: NAME of the file llm/NAME.gguf in MODELS_DIR',
    LLAMA_CPP_CALLS: 'answers that llama.cpp writes at the same time, each with memory of its own',
    SCRIPT_FILE: 'rule book of the scripted model; the one of the package unless given',
    KNOWLEDGE_EMBEDDINGS:
      "embedding model that searches agents' documents by meaning: in a process of this server (onnx), or the protocol of its server",
    KNOWLEDGE_EMBEDDINGS_URL:
      'address of its server, for openai with /v1 where it has one; OLLAMA_HOST for ollama unless given',
    KNOWLEDGE_EMBEDDINGS_MODEL:
      'embedding model of that server; for onnx the folder embedding/NAME in MODELS_DIR, multilingual-e5-small unless given',
    KNOWLEDGE_EMBEDDINGS_API_KEY: 'API key of that server',
  },
  'Sandbox, outgoing calls, webhooks and traces': {
    SANDBOX_SPEED: 'how many times faster than real time simulated calls run',
    PLANS_WITHOUT_OUTBOUND: 'plans whose accounts may not start calls',
    WEBHOOK_SIGNING_SECRET:
      'signing secret made at the first start, whsec_ and Base64; generated unless given',
    WEBHOOK_ALLOW_LOCAL: 'whether webhooks and tools may use this machine, over http too',
    WEBHOOK_ALLOW_PRIVATE: 'whether webhooks and tools may use private networks',
    WEBHOOK_BACKOFF_SECONDS: 'waits before the five attempts of a webhook',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector of traces (OTLP over HTTP); none unless given',
    OTEL_EXPORTER_OTLP_HEADERS: 'headers that the collector asks for',
    OTEL_SERVICE_NAME: 'service name in traces',
  },
};
