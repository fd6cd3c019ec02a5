/** What models and their downloads look like in bodies and answers: the one source of types and documentation. */
import { z } from '@hono/zod-openapi';
import {
  DOWNLOAD_STATES,
  MODEL_KINDS,
  MODEL_PROFILES,
  MODEL_STATES,
} from '../../domain/models/model-downloads.ts';

const profile = z.enum(MODEL_PROFILES);

const bytes = z.int().openapi({ example: 2_327_524 });

export const modelSchema = z
  .object({
    id: z.string().openapi({ example: 'silero-vad-v5' }),
    kind: z.enum(MODEL_KINDS).openapi({
      description:
        '`vad` finds speech, `turn` the end of a turn, `stt` hears words, `tts` speaks; `gguf` is a language model in a process of the server, `llm` one that Ollama keeps; `embedding` finds passages of documents.',
    }),
    name: z.string().openapi({ example: 'Silero VAD v5' }),
    engine: z.string().openapi({ description: 'The engine that uses it.', example: 'silero' }),
    licence: z.string().openapi({ description: 'An SPDX expression.', example: 'MIT' }),
    licenceUrl: z.string(),
    licenceNote: z.string().nullable().openapi({ description: 'Required credit, or a doubt.' }),
    languages: z.array(z.string()).openapi({ example: ['any'] }),
    sizeBytes: bytes,
    missingBytes: bytes.openapi({ description: 'What is not on the disk.' }),
    state: z.enum(MODEL_STATES).openapi({ description: 'By the lengths of its files.' }),
  })
  .openapi('Model');

const profileSchema = z
  .object({
    name: profile,
    modelIds: z.array(z.string()).openapi({
      description: 'With one language model: the one that this server would use.',
    }),
    sizeBytes: bytes,
    missingBytes: bytes,
  })
  .openapi('ModelProfile');

export const modelDownloadSchema = z
  .object({
    id: z.string().openapi({ example: 'dl_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    profile: profile.nullable(),
    modelId: z.string().nullable(),
    state: z.enum(DOWNLOAD_STATES),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    doneBytes: bytes.openapi({ description: 'Of all that is wanted, what was there included.' }),
    totalBytes: bytes,
    bytesPerSecond: z.int(),
    files: z.array(z.string()).openapi({
      description:
        'Files that are being downloaded; empty while files are checked, prepared or installed.',
    }),
    problem: z.string().nullable().openapi({ description: 'Why it failed, and what to do.' }),
  })
  .openapi('ModelDownload');

export const modelCatalogueSchema = z
  .object({
    profiles: z.array(profileSchema),
    models: z.array(modelSchema),
    downloads: z.array(modelDownloadSchema).openapi({
      description: 'The newest since the server started; empty where there was none.',
    }),
    isRestartNeeded: z.boolean().openapi({
      description: 'Whether a download has ended well: its files are used from the next start on.',
    }),
  })
  .openapi('ModelCatalogue');

export const startDownloadSchema = z
  .strictObject({
    profile: profile.optional(),
    modelId: z.string().min(1).max(80).optional().openapi({ example: 'silero-vad-v5' }),
  })
  .refine((body) => (body.profile === undefined) !== (body.modelId === undefined), {
    message: 'expected either profile or modelId',
    path: ['profile'],
  })
  .openapi('ModelDownloadRequest');

export const downloadPathSchema = z.object({
  downloadId: z.string().openapi({ param: { name: 'downloadId', in: 'path' } }),
});
