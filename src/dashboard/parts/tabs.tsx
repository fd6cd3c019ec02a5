/** Tabs: one panel at a time, chosen by press or arrow keys. @see WAI-ARIA Authoring Practices, "Tabs" */
import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

export interface Tab {
  readonly name: string;
  readonly title: string;
  readonly content: () => ComponentChildren;
}

/** Nothing where there is no tab. @param props.tabs in their order; the first is open until another is chosen. */
export function Tabs(props: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const { label, tabs } = props;
  const [chosen, setChosen] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = tabs.find(({ name }) => name === chosen) ?? tabs[0];
  if (open === undefined) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = tabAfter(event.key, tabs.indexOf(open), tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(tabs[next]?.name ?? '');
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === open.name}
            aria-controls={`${id}-panel`}
            tabIndex={name === open.name ? 0 : -1}
            onClick={() => setChosen(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${open.name}`}
        key={open.name}
      >
        {open.content()}
      </div>
    </>
  );
}

/** Place of the tab that a key leads to; undefined for other keys. */
function tabAfter(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (at + 1) % count;
  if (key === 'ArrowLeft') return (at + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}
