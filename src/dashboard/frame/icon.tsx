/** Icons of Lucide, in the colour of the text next to them; screen readers read that text only. */
import type { IconNode } from 'lucide';
import { createElement } from 'preact';

export type IconShape = IconNode;

export function Icon({ of: shape }: { readonly of: IconShape }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {shape.map(([tag, attributes], index) => createElement(tag, { ...attributes, key: index }))}
    </svg>
  );
}
