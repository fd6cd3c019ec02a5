/** What the command tells of models, as text; pure */
import { type Manifest, type Model, PROFILES, type Profile } from './manifest.ts';
import { bytesText } from './wording.ts';

/** How large a model is; what nobody has stated counts nothing. */
export function bytesOf(model: Model): number {
  if (model.kind === 'llm') return model.aboutBytes;
  return model.files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

/** `79.7 MB`, `about 2.6 GB`. */
export function sizeText(model: Model): string {
  const isExact = model.kind !== 'llm' && model.files.every(({ bytes }) => bytes !== null);
  return `${isExact ? '' : 'about '}${bytesText(bytesOf(model))}`;
}

/** Under which licence each is, and where that is stated: to be read before anything is downloaded. */
export function licenceLines(models: readonly Model[]): readonly string[] {
  return models.flatMap(({ name, licence, needs }) => [
    `  ${name}: ${licence.spdx} (${licence.statedAt})`,
    ...(licence.note === undefined ? [] : [`      ${licence.note}`]),
    ...(needs.length === 0 ? [] : [`      needs ${needs.join(', ')}`]),
  ]);
}

/** A table of all models. @param stateOf what is there of each. */
export function listLines(
  manifest: Manifest,
  stateOf: (model: Model) => string,
): readonly string[] {
  const head = ['ID', 'KIND', 'SIZE', 'LICENCE', 'PROFILES', 'STATE'];
  const rows = manifest.models.map((model) => [
    model.id,
    model.kind,
    sizeText(model),
    model.licence.spdx,
    profilesOf(manifest, model).join(' ') || '-',
    stateOf(model),
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function profilesOf(manifest: Manifest, model: Model): readonly Profile[] {
  return PROFILES.filter((profile) => manifest.profiles[profile]?.includes(model.id));
}

/** Which engine uses it, and what has to be set for that. */
export function useText(model: Model): string {
  if (model.kind === 'llm') return `OLLAMA_MODEL=${model.ollama} uses it`;
  return `engine "${model.engine}", from "${model.folder}"`;
}
