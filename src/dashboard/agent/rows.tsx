/** Rows of an agent's form: who calls may be transferred to, and how words are to be said. */
import { t } from '../app-state.ts';
import { RowsField } from '../parts/rows-field.tsx';
import type { FormParts } from './agent-draft.ts';

/** As many as the server takes. */
const PRONUNCIATIONS_MAX = 100;
const TARGETS_MAX = 32;

export function TransferTargets({ draft, change, wrong }: FormParts) {
  return (
    <RowsField
      label={t('agent.transferTargets')}
      hint={t('agent.targetRowsHint')}
      path="settings.transferTargets"
      wrong={wrong}
      rows={draft.transferTargets}
      columns={[
        { name: 'label', label: t('agent.targetLabel') },
        { name: 'number', label: t('field.number'), type: 'tel' },
      ]}
      empty={{ label: '', number: '' }}
      addText={t('agent.addTarget')}
      nameOf={({ label }) => label}
      max={TARGETS_MAX}
      onRows={(transferTargets) => change({ transferTargets })}
    />
  );
}

export function Pronunciations({ draft, change, wrong }: FormParts) {
  return (
    <RowsField
      label={t('agent.pronunciations')}
      hint={t('agent.pronunciationsHint')}
      path="settings.pronunciations"
      wrong={wrong}
      rows={draft.pronunciations}
      columns={[
        { name: 'written', label: t('agent.written') },
        { name: 'spoken', label: t('agent.spoken') },
      ]}
      empty={{ written: '', spoken: '' }}
      addText={t('agent.addPronunciation')}
      nameOf={({ written }) => written}
      max={PRONUNCIATIONS_MAX}
      onRows={(pronunciations) => change({ pronunciations })}
    />
  );
}
