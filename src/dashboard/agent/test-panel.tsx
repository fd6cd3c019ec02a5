/** Tries the agent next to its settings: in writing and by phone, with the time that each answer took. */
import { useState } from 'preact/hooks';
import type { CallDetail, Paged, TimelineEntry } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { isOver } from '../live-state.ts';
import { Section, Shown } from '../parts/page.tsx';
import { TalkButton } from '../parts/talk-button.tsx';
import { useLoad } from '../parts/use-load.ts';
import { Waterfall } from '../parts/waterfall.tsx';
import { recordingOriginMs } from '../time-line.ts';
import { Chat } from './chat.tsx';
import { agentWithDraft, type SeenAgent } from './saved-draft.ts';

/** Tries the draft where there is one, else the live agent. */
export function TestPanel(props: {
  readonly seen: SeenAgent;
  /** Whether the settings next to it differ from what is tested. */
  readonly isChanged: boolean;
}) {
  const { seen, isChanged } = props;
  const [callId, setCallId] = useState<string | undefined>(undefined);
  const isDraft = seen.draft !== undefined;
  const agent = agentWithDraft(seen);
  const name = isDraft ? t('try.draftName', { name: agent.name }) : agent.name;
  const talk = <TalkButton agent={{ id: agent.id, name, isDraft }} onCall={setCallId} />;
  return (
    <aside class="pane-test" aria-label={t('try.title')}>
      <Section title={t('chat.open')} actions={talk}>
        <p class={isChanged ? 'box busy small' : 'muted small'} role="status">
          {t(isDraft ? 'try.draft' : 'try.live')}
          {isChanged && ` ${t('try.unsavedAgent')}`}
        </p>
        {/* Another greeting begins another chat. */}
        <Chat key={`${isDraft} ${agent.greeting}`} agent={agent} isDraft={isDraft} />
      </Section>
      {callId !== undefined && <TestCall key={callId} callId={callId} />}
    </aside>
  );
}

/** While the call goes on. */
const REFRESH_MS = 2000;

/** More entries than that are not drawn. */
const TIMELINE_MAX = 500;

/** Where the time of each turn of the newest test call went. */
function TestCall({ callId }: { readonly callId: string }) {
  const path = `api/calls/${encodeURIComponent(callId)}`;
  const [isDone, setDone] = useState(false);
  const loaded = useLoad(
    ['test-call', path],
    async (signal) => {
      const query = { limit: TIMELINE_MAX };
      const [call, timeline] = await Promise.all([
        client.api<CallDetail>(path, { signal }),
        client.api<Paged<TimelineEntry>>(`${path}/events`, { query, signal }),
      ]);
      setDone(isOver(call));
      return { call, entries: timeline.data };
    },
    isDone ? {} : { refreshMs: REFRESH_MS },
  );
  return (
    <Section title={t('try.call')} actions={<a href={`#/calls/${callId}`}>{t('phone.record')}</a>}>
      <Shown loaded={loaded}>
        {({ call, entries }) => (
          <Waterfall entries={entries} originMs={recordingOriginMs(entries, call.startedAt)} />
        )}
      </Shown>
    </Section>
  );
}
