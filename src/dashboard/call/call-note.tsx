/** Tags and a note on a call. */
import type { CallDetail } from '../api-types.ts';
import { client, say, t } from '../app-state.ts';
import { TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import { Section } from '../parts/page.tsx';

interface Values {
  /** With commas between them. */
  readonly tags: string;
  readonly note: string;
}

/** The form keeps what is typed while the page follows the call. */
export function CallNote({ call }: { readonly call: CallDetail }) {
  const begun = { tags: call.tags.join(', '), note: call.note ?? '' };
  const form = useForm<Values>(begun, async ({ tags, note }) => {
    await client.api(`api/calls/${encodeURIComponent(call.id)}`, {
      method: 'PATCH',
      body: { tags: tagsOf(tags), note: note.trim() === '' ? null : note },
    });
    say(t('callNote.saved'));
  });
  return (
    <Section title={t('callNote.title')}>
      <Form form={form} label={t('callNote.save')} class="button" needs="editor">
        <TextField
          label={t('callNote.tags')}
          hint={t('callNote.tagsHint')}
          {...form.field('tags')}
        />
        <TextField label={t('callNote.note')} rows={3} {...form.field('note')} />
      </Form>
    </Section>
  );
}

function tagsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
