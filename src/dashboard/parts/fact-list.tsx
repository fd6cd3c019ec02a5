/** Facts of one thing beside each other, each with its name. */
import type { ComponentChildren } from 'preact';

/** @param props.class `facts`, or `figures` where numbers are to be large. */
export function FactList(props: {
  readonly class: 'facts' | 'figures';
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class={props.class}>
      {props.facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
