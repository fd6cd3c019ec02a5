/** The editor of a SIP trunk: carrier, credentials, numbers, and what the carrier may send. */
import type { Trunk } from '../api-types.ts';
import { say, t } from '../app-state.ts';
import { BroughtBack } from '../parts/brought-back.tsx';
import { Form } from '../parts/form.tsx';
import { useKeptForm } from '../parts/use-kept-form.ts';
import { saveTrunk } from './save-trunk.ts';
import { draftOf, EDITABLE_FIELDS, type TrunkDraft } from './trunk-draft.ts';
import { TrunkFields } from './trunk-fields.tsx';
import { TrunkPriceFields } from './trunk-price-fields.tsx';

export function TrunkForm(props: {
  readonly trunk: Trunk;
  readonly onSaved: (trunk: Trunk) => void;
}) {
  const { trunk, onSaved } = props;
  const form = useKeptForm<TrunkDraft>({
    kept: {
      path: `api/trunks/${trunk.name}`,
      withoutSecrets: (draft) => ({ ...draft, password: '' }),
    },
    fresh: () => draftOf(trunk),
    send: async (draft, begun) => {
      const saved = await saveTrunk(trunk, draft, begun);
      say(t('trunk.saved'));
      onSaved(saved);
      return draftOf(saved);
    },
  });
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t('app.save')} needs="admin">
        <TrunkFields form={form} names={EDITABLE_FIELDS} hasPassword={trunk.hasPassword} />
        <TrunkPriceFields form={form} />
      </Form>
    </div>
  );
}
