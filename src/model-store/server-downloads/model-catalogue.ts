/** The manifest's models and their state on this machine, and the models of each profile. */
import { mkdir } from 'node:fs/promises';
import { EnvHttpProxyAgent } from 'undici';
import {
  type DownloadableModel,
  MODEL_PROFILES,
  type ModelCatalogue,
  type ProfileContent,
  type WantedModels,
} from '../../domain/model-downloads.ts';
import { ollamaModels } from '../download-models.ts';
import {
  loadManifest,
  type Manifest,
  type Model,
  type ModelSettings,
  modelsOf,
  usesOllama,
  withOneLanguageModel,
} from '../manifest.ts';
import { bytesMissing, planFiles, quickStateOf } from '../model-files.ts';
import { ModelLock } from '../model-lock.ts';
import { refuseWithoutRoom } from '../models-error.ts';

/** The manifest, and the state of its models on this machine. */
export interface ModelShelf {
  readonly settings: ModelSettings;
  readonly manifest: Manifest;
  readonly lock: ModelLock;
  /** Names of the models that Ollama has; undefined where none answers, or none is asked. */
  readonly ofOllama: readonly string[] | undefined;
}

/**
 * Looks at list, folder and Ollama each time: the command may have changed them.
 *
 * @param manifestFile the list of the repository unless given.
 * @throws {ModelsError} naming the file that cannot be read.
 */
export async function readShelf(
  settings: ModelSettings,
  manifestFile?: string,
): Promise<ModelShelf> {
  const { manifest } = await loadManifest(manifestFile);
  const lock = await ModelLock.load(settings.MODELS_DIR);
  const ofOllama = usesOllama(settings) ? await askOllama(settings.OLLAMA_HOST) : undefined;
  return { settings, manifest, lock, ofOllama };
}

async function askOllama(host: string): Promise<readonly string[] | undefined> {
  const dispatcher = new EnvHttpProxyAgent({ allowH2: false });
  try {
    return await ollamaModels({ host, dispatcher, signal: new AbortController().signal });
  } finally {
    await dispatcher.destroy();
  }
}

/** The manifest, with the state of its models on this machine. */
export async function catalogueOf(
  shelf: ModelShelf,
): Promise<Pick<ModelCatalogue, 'profiles' | 'models'>> {
  const models = shelf.manifest.models.map((model) => describedModel(model, shelf));
  const profiles = await Promise.all(
    MODEL_PROFILES.map(async (name): Promise<ProfileContent> => {
      const ids = (await wantedModels({ profile: name }, shelf)).map(({ id }) => id);
      const own = models.filter(({ id }) => ids.includes(id));
      const sum = (field: 'sizeBytes' | 'missingBytes') =>
        own.reduce((total, model) => total + model[field], 0);
      return {
        name,
        modelIds: ids,
        sizeBytes: sum('sizeBytes'),
        missingBytes: sum('missingBytes'),
      };
    }),
  );
  return { models, profiles };
}

/** Models that a download would bring, as the command chooses them. @throws {ModelsError} `usage` for an unknown model. */
export function wantedModels(
  wanted: WantedModels,
  { manifest, settings, ofOllama }: ModelShelf,
): Promise<readonly Model[]> {
  const only = 'modelId' in wanted ? [wanted.modelId] : [];
  const profile = 'profile' in wanted ? wanted.profile : settings.MODELS_PROFILE;
  const models = modelsOf(manifest, { profile, only });
  return withOneLanguageModel(models, settings, async () => ofOllama !== undefined);
}

/** @throws {ModelsError} `disk-full` saying how much room is missing, `disk` where the folder cannot be made. */
export async function refuseFullDisk(models: readonly Model[], shelf: ModelShelf): Promise<void> {
  const { MODELS_DIR: folder } = shelf.settings;
  await mkdir(folder, { recursive: true });
  await refuseWithoutRoom(folder, bytesMissing(filesOf(models, shelf)));
}

function filesOf(models: readonly Model[], { settings, lock }: ModelShelf) {
  return planFiles(models, { modelsDir: settings.MODELS_DIR, lock, mirror: null });
}

function describedModel(model: Model, shelf: ModelShelf): DownloadableModel {
  const { id, kind, name, engine, licence, languages } = model;
  return {
    ...{ id, kind, name, engine, languages },
    licence: licence.spdx,
    licenceUrl: licence.statedAt,
    licenceNote: licence.note ?? null,
    ...extentOf(model, shelf),
  };
}

function extentOf(
  model: Model,
  shelf: ModelShelf,
): Pick<DownloadableModel, 'sizeBytes' | 'missingBytes' | 'state'> {
  if (model.kind === 'llm') {
    const isThere = shelf.ofOllama?.includes(model.ollama) === true;
    return {
      sizeBytes: model.aboutBytes,
      missingBytes: isThere ? 0 : model.aboutBytes,
      state: isThere ? 'there' : 'not_there',
    };
  }
  const files = filesOf([model], shelf);
  return {
    sizeBytes: files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    missingBytes: bytesMissing(files),
    state: quickStateOf(files),
  };
}
