/** The editor of an agent's instructions: tall, grows with its text, counts what is left, and inserts variables. */
import { useRef, useState } from 'preact/hooks';
import { formats, t } from '../app-state.ts';
import { BROWSER, keep, kept } from '../kept.ts';
import { CheckField, TextField, type TextFieldProps } from '../parts/field.tsx';

/** As many as the server takes. */
const CHARS_MAX = 20_000;

const FIXED_WIDTH = 'prompt.fixedWidth';

export function PromptField(props: TextFieldProps) {
  const [isFixedWidth, setFixedWidth] = useState(() => kept(BROWSER, FIXED_WIDTH) === 'yes');
  const editor = useRef<HTMLDivElement>(null);
  const { count } = formats.value;
  const values = { now: count(props.value.length), max: count(CHARS_MAX) };
  return (
    <div ref={editor} class={isFixedWidth ? 'prompt prompt-fixed' : 'prompt'}>
      <TextField {...props} rows={16} isRequired />
      <div class="row prompt-foot">
        <CheckField
          label={t('agent.fixedWidth')}
          isChecked={isFixedWidth}
          onChecked={(isChosen) => {
            keep(BROWSER, FIXED_WIDTH, isChosen ? 'yes' : undefined);
            setFixedWidth(isChosen);
          }}
        />
        <span class={props.value.length > CHARS_MAX ? 'wrong' : 'hint'}>
          {t('agent.chars', values)}
        </span>
      </div>
      <p class="hint">
        {t('agent.variables')
          .split(/(\{\{.*?\}\})/)
          .map((part, index) =>
            index % 2 === 0 ? (
              part
            ) : (
              <button
                key={part}
                type="button"
                class="variable"
                title={t('agent.insert')}
                onClick={() => insertAtCursor(editor.current?.querySelector('textarea'), part)}
              >
                <code>{part}</code>
              </button>
            ),
          )}
      </p>
    </div>
  );
}

/** Writes text at the cursor of a field, as if it was typed there: undo takes it back. */
function insertAtCursor(field: HTMLTextAreaElement | null | undefined, text: string): void {
  field?.focus();
  document.execCommand('insertText', false, text);
}
