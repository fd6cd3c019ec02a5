/** What an agent may use: the built-in tools, those that the account has made, and a calendar. */
import { TOOLS } from '../agent-draft.ts';
import type { Paged } from '../api-types.ts';
import { t, word } from '../app-state.ts';
import { ChecksField, SelectField } from './field.tsx';
import { useApi } from './use-load.ts';

const QUERY = { limit: '100' };

/** @param props.value names; those that are neither built in nor loaded yet are shown too, so that saving keeps them. */
export function ToolsField(props: {
  readonly label: string;
  readonly error: string | undefined;
  readonly value: readonly string[];
  readonly onValue: (value: readonly string[]) => void;
}) {
  const { value } = props;
  const { value: page } = useApi<Paged<{ readonly name: string }>>('api/tools', QUERY);
  const custom = page?.data.map(({ name }) => name) ?? [];
  const names = [...new Set<string>([...TOOLS, ...custom, ...value])];
  return <ChecksField {...props} options={names.map((name) => [name, word('tool', name)])} />;
}

/** @param props.value empty for none; a calendar that is not loaded yet is shown too, so that saving keeps it. */
export function CalendarField(props: {
  readonly label: string;
  readonly error: string | undefined;
  readonly value: string;
  readonly onValue: (value: string) => void;
}) {
  const { value } = props;
  const { value: page } = useApi<Paged<{ readonly name: string }>>('api/calendars', QUERY);
  const names = page?.data.map(({ name }) => name) ?? [];
  const known = [...new Set([...names, ...(value === '' ? [] : [value])])];
  const options = known.map((name) => [name, name] as const);
  return <SelectField {...props} options={[['', t('agent.noCalendar')], ...options]} />;
}
