/** Models that can be downloaded, and the download under way: the port that the REST interface asks. */
import { ServiceError } from './service-error.ts';

/** Sets of models, by size. */
export const MODEL_PROFILES = ['small', 'standard', 'best'] as const;

/** One of `MODEL_PROFILES`. */
export type ModelProfile = (typeof MODEL_PROFILES)[number];

/** `gguf`: a language model in a process of the server's own; `llm`: one that Ollama keeps. */
export const MODEL_KINDS = ['vad', 'stt', 'turn', 'tts', 'gguf', 'llm', 'embedding'] as const;

/** States of a model, by the lengths of its files; `npm run models -- --check` compares checksums. */
export const MODEL_STATES = ['there', 'partly', 'not_there'] as const;

/** A model of the list. */
export interface DownloadableModel {
  readonly id: string;
  readonly kind: (typeof MODEL_KINDS)[number];
  readonly name: string;
  /** The engine that uses it. */
  readonly engine: string;
  /** An SPDX expression. */
  readonly licence: string;
  readonly licenceUrl: string;
  /** Required credit, or a doubt; null where there is none. */
  readonly licenceNote: string | null;
  readonly languages: readonly string[];
  /** Length of all its files; of a model of Ollama's by its page. */
  readonly sizeBytes: number;
  /** Bytes of them that are not on the disk. */
  readonly missingBytes: number;
  readonly state: (typeof MODEL_STATES)[number];
}

/** Models of a profile on this server: of language models only the one that the server would use. */
export interface ProfileContent {
  readonly name: ModelProfile;
  readonly modelIds: readonly string[];
  readonly sizeBytes: number;
  readonly missingBytes: number;
}

/** Models that can be downloaded, and the state of each. */
export interface ModelCatalogue {
  readonly profiles: readonly ProfileContent[];
  readonly models: readonly DownloadableModel[];
  /** Whether a download has ended well since the server started: it uses new files from its next start on. */
  readonly isRestartNeeded: boolean;
}

/** Either a profile or one model. */
export type WantedModels = { readonly profile: ModelProfile } | { readonly modelId: string };

/** States of a download. */
export const DOWNLOAD_STATES = ['running', 'completed', 'failed', 'cancelled'] as const;

/** A download: the newest one stays until another begins or the server stops. */
export interface ModelDownload {
  readonly id: string;
  /** Null where one model was wanted. */
  readonly profile: ModelProfile | null;
  readonly modelId: string | null;
  readonly state: (typeof DOWNLOAD_STATES)[number];
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  /** Bytes done of all wanted files, including files that were there. */
  readonly doneBytes: number;
  readonly totalBytes: number;
  readonly bytesPerSecond: number;
  /** Files that are being downloaded; empty while they are checked, prepared or installed. */
  readonly files: readonly string[];
  /** Why it failed and what to do, in plain English; null without a failure. */
  readonly problem: string | null;
}

/** One download at a time. */
export interface ModelDownloads {
  /** @throws {ServiceError} UNPROCESSABLE when the list or the folder of models cannot be read. */
  catalogue(): Promise<ModelCatalogue>;

  /** Undefined where there was none since the server started. */
  readonly newest: ModelDownload | undefined;

  /**
   * Begins a download, which continues in the background.
   *
   * @throws {ServiceError} CONFLICT when one is under way, or the disk is too small; UNPROCESSABLE for an unknown model.
   */
  start(wanted: WantedModels): Promise<ModelDownload>;

  /** Resolves when the download has ended. Downloaded parts stay for the next download. */
  cancel(): Promise<void>;
}

/** @throws {ServiceError} NOT_FOUND for another id than the newest download's. */
export function downloadWith(
  id: string,
  { newest }: Pick<ModelDownloads, 'newest'>,
): ModelDownload {
  if (newest !== undefined && newest.id === id) return newest;
  throw new ServiceError(
    'NOT_FOUND',
    'Cannot find the download: the server knows its newest one alone, since its start',
  );
}
