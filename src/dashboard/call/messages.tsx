/** Messages that the agent sent on a call, with what became of them. */
import type { CallDetail } from '../api-types.ts';
import { sentence, t } from '../app-state.ts';
import { Instant, Section, State, Table } from '../parts/page.tsx';

/** Nothing where no message was sent. */
export function Messages({ messages }: Required<Pick<CallDetail, 'messages'>>) {
  if (messages.length === 0) return null;
  return (
    <Section title={t('messages.title')}>
      <Table
        label={t('messages.title')}
        rows={messages}
        columns={{
          instant: ({ createdAt }) => <Instant at={createdAt} />,
          to: ({ to }) => to,
          status: ({ status }) => <State of={status} />,
          text: ({ text }) => text ?? '–',
          details: ['small', ({ reason }) => reason && sentence(reason)],
        }}
      />
    </Section>
  );
}
