/** The language model of an agent: the server's own, or another of its model server. */
import type { LanguageModels } from '../api-types.ts';
import { t } from '../app-state.ts';
import { SelectField } from '../parts/field.tsx';
import { useApi } from '../parts/use-load.ts';

/**
 * Shows nothing where there is nothing to choose, as with the rule book.
 *
 * @param props.value empty for the server's own; a name that is not at the model server is shown too, so that saving keeps it.
 */
export function ModelField(props: {
  readonly value: string;
  readonly error: string | undefined;
  readonly onValue: (value: string) => void;
}) {
  const { value, error, onValue } = props;
  const { value: known } = useApi<LanguageModels>('api/language-models');
  if (known === undefined || known.models.length === 0) return null;
  const isMissing = value !== '' && !known.models.includes(value);
  return (
    <SelectField
      label={t('agent.model')}
      hint={t('agent.modelHint')}
      error={error}
      value={value}
      onValue={onValue}
      options={[
        ['', t('agent.ownModel', { name: known.ownModel })],
        ...known.models.map((name) => [name, name] as const),
        ...(isMissing ? [[value, t('agent.missingModel', { name: value })] as const] : []),
      ]}
    />
  );
}
