/** The command palette: goes to a page, an agent or a call, and acts. */
import * as listbox from '@zag-js/listbox';
import { normalizeProps, useMachine } from '@zag-js/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../app-state.ts';
import { useAgents } from '../parts/use-load.ts';
import { commandsFor, GROUPS } from './commands.ts';
import { Icon } from './icon.tsx';

export interface PaletteProps {
  readonly onClose: () => void;
}

export function Palette({ onClose }: PaletteProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Only a dialog that is closed gives the focus back.
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by keyboard.
    <dialog
      ref={element}
      class="palette"
      aria-label={t('palette.open')}
      onClose={onClose}
      // The list inside would take Escape for itself.
      onKeyDownCapture={(event) => {
        if (event.key === 'Escape') onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <Commands onClose={onClose} />
    </dialog>
  );
}

function Commands({ onClose }: PaletteProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const agents = useAgents();
  const found = commandsFor(text, agents.list);
  const service = useMachine(listbox.machine, {
    id: useId(),
    collection: listbox.collection({ items: found, itemToValue: ({ id }) => id }),
    highlightedValue: chosen ?? found[0]?.id ?? null,
    onHighlightChange: ({ highlightedValue }) => setChosen(highlightedValue),
    onSelect: ({ value }) => {
      onClose();
      found.find(({ id }) => id === value)?.run();
    },
  });
  const api = listbox.connect(service, normalizeProps);
  return (
    <div {...api.getRootProps()}>
      <span class="unseen" {...api.getLabelProps()}>
        {t('palette.open')}
      </span>
      <input
        {...api.getInputProps()}
        type="text"
        role="combobox"
        aria-expanded={found.length > 0}
        class="palette-input"
        aria-label={t('palette.open')}
        placeholder={t('palette.placeholder')}
        autofocus
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(null);
        }}
      />
      <div class="palette-list" {...api.getContentProps()}>
        {GROUPS.map((group) => {
          const commands = found.filter((command) => command.group === group);
          if (commands.length === 0) return null;
          return (
            <div key={group} {...api.getItemGroupProps({ id: group })}>
              <p class="menu-label" {...api.getItemGroupLabelProps({ htmlFor: group })}>
                {t(`palette.${group}`)}
              </p>
              {commands.map((command) => (
                <div
                  key={command.id}
                  class="menu-item"
                  {...api.getItemProps({ item: command, highlightOnHover: true })}
                >
                  <Icon of={command.icon} />
                  {command.text}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {found.length === 0 && (
        <p class="palette-none" role="status">
          {t('palette.none')}
        </p>
      )}
    </div>
  );
}
