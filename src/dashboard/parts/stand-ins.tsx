/** Engines that stand in for better ones: what callers notice of them, and the command that mends it. */
import type { Engine, Readiness } from '../api-types.ts';
import { client, sentence, t, word } from '../app-state.ts';
import { type Loaded, useLoad } from './use-load.ts';

/** In the order in which a call meets them. */
export const ENGINE_JOBS: readonly Engine['job'][] = ['llm', 'stt', 'vad', 'turn', 'tts'];

export function useReadiness(): Loaded<Readiness> {
  return useLoad(['readyz'], (signal) =>
    client.api<Readiness>('readyz', { signal, alsoGood: 503 }),
  );
}

/** A warning where one of the jobs is done by a stand-in; nothing else, and nothing while that is not known. */
export function StandIns({ jobs }: { readonly jobs: readonly Engine['job'][] }) {
  const { value } = useReadiness();
  const standIns = jobs.flatMap(
    (job) => value?.engines.filter((one) => one.job === job && one.standIn !== null) ?? [],
  );
  if (standIns.length === 0) return null;
  const remedies = new Set(standIns.map(remedyOf));
  return (
    <section class="box busy stand-ins" aria-label={t('standIns.title')}>
      <p>{t('standIns.title')}</p>
      <ul>
        {standIns.map((engine) => (
          <li key={engine.job}>
            {word('job', engine.job)}: {limitationOf(engine)}.
          </li>
        ))}
      </ul>
      {[...remedies].map((remedy) => (
        <p key={remedy}>{remedy}.</p>
      ))}
    </section>
  );
}

/** What callers notice of a stand-in, without a full stop; empty where an engine is none. */
export function limitationOf({ job, standIn, limitation }: Engine): string {
  if (standIn === null) return '';
  const name = standIn === 'second_choice' ? standIn : `${job}.${standIn}`;
  const text = word('limitation', name);
  return text === name ? sentence(limitation ?? '') : text;
}

/** What to do about a stand-in, without a full stop. An operator who chose it is told of the setting. */
export function remedyOf({ job, replacement }: Engine): string {
  if (replacement === null) return t('standIns.chosen', { setting: job.toUpperCase() });
  const { how } = replacement;
  const text = word('how', how);
  return text === how ? sentence(how) : text;
}
