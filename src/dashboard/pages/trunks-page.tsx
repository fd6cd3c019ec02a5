/** The trunks: whether each has its line to the carrier, and which numbers come over it. */
import type { Trunk } from '../api-types.ts';
import { formats, sentence, t } from '../app-state.ts';
import { Button, Empty, Instant, LinkButton, Page, Shown, State, Table } from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';

/** A trunk registers, and loses its line, while the page is open. */
const REFRESH_MS = 5000;

export function TrunksPage() {
  const options = { refreshMs: REFRESH_MS };
  const loaded = useApi<{ readonly data: readonly Trunk[] }>('api/trunks', {}, options);
  return (
    <Page
      title={t('nav.trunks')}
      actions={
        <>
          <Button text={t('system.look')} onClick={loaded.reload} />
          <NewTrunk />
        </>
      }
    >
      <Shown loaded={loaded}>{({ data }) => <TrunkTable trunks={data} />}</Shown>
    </Page>
  );
}

function NewTrunk() {
  return <LinkButton needs="admin" isMain href={`#/trunks/${NEW_ID}`} text={t('trunk.add')} />;
}

function TrunkTable({ trunks }: { readonly trunks: readonly Trunk[] }) {
  const { count } = formats.value;
  return (
    <Table
      label={t('nav.trunks')}
      empty={
        <Empty text={t('trunks.none')}>
          <NewTrunk />
        </Empty>
      }
      rows={trunks}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => `#/trunks/${encodeURIComponent(name)}`}
      columns={{
        name: ({ name }) => name,
        carrier: ['url', ({ proxy }) => proxy],
        transport: ({ transport }) => transport,
        state: ({ state, detail }) => (
          // One item in the card of a narrow screen.
          <span>
            <State of={state} /> {sentence(detail)}
          </span>
        ),
        registeredUntil: ({ expiresAt }) => <Instant at={expiresAt} />,
        numbers: ({ numbers }) => numbers.join(', ') || '–',
        codecs: ({ codecs }) => codecs.join(', '),
        callsNow: [
          'number',
          ({ callsInProgress: now, maxCalls: max }) =>
            max === null ? count(now) : `${count(now)} / ${count(max)}`,
        ],
      }}
    />
  );
}
