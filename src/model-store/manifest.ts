/** The manifest: `models/manifest.json`, the list of models that can be downloaded. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { MODEL_PROFILES, type ModelProfile } from '../domain/model-downloads.ts';
import { ModelsError } from './models-error.ts';

const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/);

const safePath = z
  .string()
  .refine(isSafePath, 'expected a path below the folder, without "..", such as onnx/model.onnx');

/** Shown on the terminal: it must not move the cursor or colour anything. */
const shown = z.string().regex(/^\P{Cc}+$/u, 'expected text without control characters');

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hexadecimal digits');

const fileSchema = z.strictObject({
  /** Path below `base`. */
  path: safePath,
  /** Path below the model's folder; the same as `path` unless given. */
  as: safePath.optional(),
  /** Null when unknown. */
  bytes: z.number().int().positive().nullable(),
  /** Null when unknown: the first download takes the checksum that the server declares, and keeps it. */
  sha256: sha256.nullable(),
});

const tensorSchema = z.strictObject({
  file: safePath,
  direction: z.enum(['in', 'out']),
  name: shown,
  type: z.enum(['float32', 'int64', 'bool']),
  /** Numbers, and names of variable lengths. */
  shape: z.array(z.union([z.number().int().positive(), z.string().min(1)])),
});

const licenceSchema = z.strictObject({
  /** An SPDX expression. */
  spdx: shown,
  statedAt: z.url(),
  /** Required credit, or a doubt. */
  note: shown.optional(),
});

const commonSchema = {
  id,
  name: shown,
  /** The engine that uses it. */
  engine: shown,
  licence: licenceSchema,
  page: z.url(),
  languages: z.array(z.string().min(1)),
  /** Programs that it needs. */
  needs: z.array(shown),
};

const filesModelSchema = z.strictObject({
  ...commonSchema,
  /** `gguf`: a language model for llama.cpp in a process of the server's own; `embedding`: search of documents by meaning. */
  kind: z.enum(['vad', 'stt', 'turn', 'tts', 'gguf', 'embedding']),
  /** Path below MODELS_DIR. */
  folder: safePath,
  revision: z.string().min(1),
  base: z
    .url({ protocol: /^https?$/ })
    .refine(
      (text) => text.endsWith('/') && !/[?#@]/.test(text),
      'expected an address that ends in / and has no ?, # and @',
    ),
  /** Sample rate of models that hear or speak. */
  sampleRateHz: z.number().int().positive().optional(),
  files: z.array(fileSchema).min(1),
  tensors: z.array(tensorSchema),
});

const ollamaModelSchema = z.strictObject({
  ...commonSchema,
  kind: z.literal('llm'),
  /** Its name in Ollama. */
  ollama: z.string().min(1),
  /** Size on its page; Ollama knows and checks the true size. */
  aboutBytes: z.number().positive(),
});

const manifestSchema = z
  .strictObject({
    version: z.literal(1),
    profiles: z.record(z.enum(MODEL_PROFILES), z.array(id)),
    models: z.array(z.discriminatedUnion('kind', [filesModelSchema, ollamaModelSchema])).min(1),
  })
  .superRefine((manifest, context) => {
    for (const message of contradictionsOf(manifest)) context.addIssue({ code: 'custom', message });
  });

/** The list of production models. */
export type Manifest = z.infer<typeof manifestSchema>;

/** A model that is downloaded as files. */
export type FilesModel = z.infer<typeof filesModelSchema>;

/** A model that an Ollama server pulls. */
export type OllamaModelEntry = z.infer<typeof ollamaModelSchema>;

/** An entry of the manifest. */
export type Model = FilesModel | OllamaModelEntry;

/** One file of a model, with its SHA-256. */
export type ModelFile = z.infer<typeof fileSchema>;

/** The manifest in the repository. */
const MANIFEST_FILE = new URL('../../models/manifest.json', import.meta.url);

/**
 * Reads a manifest, and returns its text too, which goes into archives unchanged.
 *
 * @throws {ModelsError} naming the file and what is wrong in it.
 */
export async function loadManifest(
  file: URL | string = MANIFEST_FILE,
): Promise<{ readonly manifest: Manifest; readonly text: string }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(String(file), error);
  });
  return { manifest: parseManifest(text, String(file)), text };
}

/** @throws {ModelsError} naming where the text comes from and what is wrong in it. */
export function parseManifest(text: string, from: string): Manifest {
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    throw unreadable(from, error);
  }
}

function unreadable(from: string, error: unknown): ModelsError {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
  return new ModelsError('usage', `Cannot read the list of models "${from}": ${why}`, {
    cause: error,
  });
}

/** The models of a profile, or those named. @throws {ModelsError} naming an id that is not in the list. */
export function modelsOf(
  manifest: Manifest,
  wanted: { readonly profile: ModelProfile; readonly only: readonly string[] },
): readonly Model[] {
  const ids = wanted.only.length > 0 ? wanted.only : (manifest.profiles[wanted.profile] ?? []);
  return [...new Set(ids)].map((wantedId) => {
    const model = manifest.models.find((entry) => entry.id === wantedId);
    if (model !== undefined) return model;
    throw new ModelsError(
      'usage',
      `There is no model "${wantedId}" in the list; --list shows the ones there are`,
    );
  });
}

/** Path of a file below MODELS_DIR, with `/` between the parts; also its place on a mirror and in a bundle. */
export function placeOf(model: FilesModel, file: ModelFile): string {
  return `${model.folder}/${file.as ?? file.path}`;
}

function contradictionsOf(manifest: {
  readonly profiles: Readonly<Record<string, readonly string[]>>;
  readonly models: readonly Model[];
}): string[] {
  const ids = manifest.models.map((model) => model.id);
  const unknown = Object.values(manifest.profiles)
    .flat()
    .filter((wanted) => !ids.includes(wanted));
  const places = manifest.models.flatMap((model) =>
    model.kind === 'llm' ? [] : model.files.map((file) => placeOf(model, file).toLowerCase()),
  );
  return [
    ...unknown.map((wanted) => `a profile names "${wanted}", which is not in the list`),
    ...repeatedIn(ids).map((twice) => `"${twice}" is in the list twice`),
    ...repeatedIn(places).map((twice) => `two files would lie at "${twice}"`),
  ];
}

function repeatedIn(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))];
}

const PATH_LENGTH_MAX = 200;

/** No control characters, no backslash (a separator elsewhere), no colon (a drive, a stream). */
const PATH_PART = /^[A-Za-z0-9._+-][A-Za-z0-9._+ -]*$/;

/** Whether a relative path with `/` stays below its folder on every operating system. */
export function isSafePath(path: string): boolean {
  return (
    path.length > 0 &&
    path.length <= PATH_LENGTH_MAX &&
    path.split('/').every((part) => PATH_PART.test(part) && !/[. ]$/.test(part))
  );
}

/** Whether the setting LLM takes models of Ollama. */
export function usesOllama({ LLM }: ModelSettings): boolean {
  return LLM === 'auto' || LLM.includes('ollama');
}

/**
 * Leaves, of a profile's two language models, the one that the server will use; a list with one kind stays as it is.
 *
 * @param hasOllama asked only with LLM=auto.
 */
export async function withOneLanguageModel(
  models: readonly Model[],
  { LLM }: ModelSettings,
  hasOllama: () => Promise<boolean>,
): Promise<readonly Model[]> {
  const kinds = new Set(models.map(({ kind }) => kind));
  if (!kinds.has('llm') || !kinds.has('gguf')) return models;
  const isAuto = LLM === 'auto';
  const isEmbedded = isAuto ? !(await hasOllama()) : LLM.includes('llama-cpp');
  const isOllama = isAuto ? !isEmbedded : LLM.includes('ollama');
  return models.filter(({ kind }) =>
    kind === 'gguf' ? isEmbedded : kind === 'llm' ? isOllama : true,
  );
}

/** Settings that use a model once it is there. */
export interface ModelSettings {
  /** Language model servers, comma-separated, best first; `auto` takes those that answer. */
  readonly LLM: string;
  readonly MODELS_DIR: string;
  readonly MODELS_PROFILE: ModelProfile;
  readonly OLLAMA_HOST: string;
}
