/** A list of rows of text fields, such as words and how they are spoken, that grows and shrinks by a row. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../app-state.ts';
import { type Option, SelectField, TextField } from './field.tsx';
import { Button } from './page.tsx';

interface RowColumn<Row> {
  readonly name: keyof Row & string;
  readonly label: string;
  readonly type?: 'text' | 'tel' | 'time';
  /** Makes it a choice. */
  readonly options?: readonly Option[];
}

/** @param props.path of the rows in messages about them: `settings.pronunciations`. */
export function RowsField<Row extends { readonly [Name in keyof Row]: string }>(props: {
  readonly label: string;
  readonly hint?: string;
  readonly path: string;
  readonly wrong: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  readonly columns: readonly RowColumn<Row>[];
  readonly empty: Row;
  readonly addText: string;
  /** What its button to remove a row is named after. */
  readonly nameOf: (row: Row) => string;
  readonly max: number;
  readonly onRows: (rows: readonly Row[]) => void;
}) {
  const { path, wrong, rows, columns, onRows } = props;
  const { group, add } = useFocusOfRows(rows.length);
  const change = (at: number, name: string, value: string) =>
    onRows(rows.map((row, index) => (index === at ? { ...row, [name]: value } : row)));
  return (
    <fieldset class="rows" ref={group}>
      <legend>{props.label}</legend>
      {props.hint !== undefined && <p class="hint">{props.hint}</p>}
      {wrong[path] && <p class="wrong">{wrong[path]}</p>}
      {rows.map((row, index) => (
        <div class="rows-row" key={index}>
          {columns.map((column) => (
            <Cell
              key={column.name}
              column={column}
              value={row[column.name]}
              error={wrong[`${path}.${index}.${column.name}`]}
              onValue={(value) => change(index, column.name, value)}
            />
          ))}
          <Button
            text="×"
            aria-label={t('rows.remove', { name: props.nameOf(row) })}
            onClick={() => onRows(rows.filter((_, other) => other !== index))}
          />
        </div>
      ))}
      {rows.length < props.max && (
        <button type="button" ref={add} onClick={() => onRows([...rows, props.empty])}>
          {props.addText}
        </button>
      )}
    </fieldset>
  );
}

function Cell<Row>(props: {
  readonly column: RowColumn<Row>;
  readonly value: string;
  readonly error: string | undefined;
  readonly onValue: (value: string) => void;
}) {
  const { column, ...rest } = props;
  const { label, type = 'text', options } = column;
  return options === undefined ? (
    <TextField {...rest} label={label} type={type} />
  ) : (
    <SelectField {...rest} label={label} options={options} />
  );
}

/** Focuses a new row before the next key can arrive, and the add button where a removed row had the focus. */
function useFocusOfRows(length: number) {
  const group = useRef<HTMLFieldSetElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const count = useRef(length);
  useLayoutEffect(() => {
    if (length > count.current) {
      [...(group.current?.querySelectorAll<HTMLElement>('.rows-row') ?? [])]
        .at(-1)
        ?.querySelector<HTMLElement>('input, select')
        ?.focus();
    } else if (length < count.current && document.activeElement === document.body) {
      add.current?.focus();
    }
    count.current = length;
  }, [length]);
  return { group, add };
}
