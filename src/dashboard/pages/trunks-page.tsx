/** The trunks: whether each has its line to the carrier, and which numbers come over it. */
import type { Trunk } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { DOCS_ADDRESS } from '../frame/navigation.ts';
import { Button, Empty, Instant, Page, Shown, State, Table } from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';

export function TrunksPage() {
  const loaded = useApi<{ readonly data: readonly Trunk[] }>('api/trunks');
  return (
    <Page
      title={t('nav.trunks')}
      actions={<Button text={t('system.look')} onClick={loaded.reload} />}
    >
      <Shown loaded={loaded}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty text={t('trunks.none')}>
              <a class="button" href={DOCS_ADDRESS}>
                {t('trunks.docs')}
              </a>
            </Empty>
          ) : (
            <TrunkTable trunks={data} />
          )
        }
      </Shown>
    </Page>
  );
}

function TrunkTable({ trunks }: { readonly trunks: readonly Trunk[] }) {
  const { count } = formats.value;
  return (
    <Table
      label={t('nav.trunks')}
      rows={trunks}
      columns={{
        name: ({ name }) => name,
        carrier: ['url', ({ proxy }) => proxy],
        transport: ({ transport }) => transport,
        state: ({ state, detail }) => (
          <>
            <State of={state} /> {detail}
          </>
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
