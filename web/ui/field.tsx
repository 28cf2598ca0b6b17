/** A field with its label, what it is for, and what is wrong with it. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
}

interface TextProps extends FieldProps {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'search';
  readonly value?: string;
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly inputMode?: 'numeric' | 'text';
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly isRequired?: boolean;
  readonly isFocused?: boolean;
  /** Offered while one types; anything else can be typed too. */
  readonly suggestions?: readonly string[];
  readonly onText?: (text: string) => void;
}

export function TextField({ label, name, hint, error, ...input }: TextProps) {
  // Which attributes go with which type is for those who write a type: here all that is given is passed on.
  const type = { type: input.type ?? 'text' };
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(ids) => (
        <>
          <input
            class="input"
            id={ids.input}
            name={name}
            list={input.suggestions && `${ids.input}-list`}
            {...Object(type)}
            {...startOf(input)}
            autocomplete={input.autocomplete ?? 'off'}
            placeholder={input.placeholder}
            inputMode={input.inputMode}
            pattern={input.pattern}
            minLength={input.minLength}
            maxLength={input.maxLength}
            required={input.isRequired}
            // A page or dialog that asks for one thing begins there.
            autofocus={input.isFocused}
            aria-invalid={error !== undefined}
            aria-describedby={ids.note}
            onInput={(event) => input.onText?.(event.currentTarget.value)}
          />
          {input.suggestions && (
            <datalist id={`${ids.input}-list`}>
              {input.suggestions.map((text) => (
                <option key={text} value={text} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Labelled>
  );
}

/** A field that nobody listens to keeps what is typed, whatever is drawn anew around it. */
function startOf({ value, onText }: Pick<TextProps, 'value' | 'onText'>) {
  return onText ? { value } : { defaultValue: value };
}

interface AreaProps extends FieldProps {
  readonly value?: string;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly onText?: (text: string) => void;
}

export function TextArea({ label, name, hint, error, ...area }: AreaProps) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea
          class="input mono"
          id={ids.input}
          name={name}
          rows={area.rows ?? 8}
          spellcheck={false}
          placeholder={area.placeholder}
          required={area.isRequired}
          {...startOf(area)}
          aria-invalid={error !== undefined}
          aria-describedby={ids.note}
          onInput={(event) => area.onText?.(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

interface SelectProps extends FieldProps {
  readonly value?: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  readonly onChoice?: (value: string) => void;
}

export function SelectField({ label, name, hint, error, options, value, onChoice }: SelectProps) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(ids) => (
        <select
          class="input"
          id={ids.input}
          name={name}
          {...(onChoice && { value })}
          aria-describedby={ids.note}
          onChange={(event) => onChoice?.(event.currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface LabelledProps {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly error: string | undefined;
  readonly children: (ids: {
    readonly input: string;
    readonly note: string | undefined;
  }) => ComponentChildren;
}

function Labelled({ label, hint, error, children }: LabelledProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ input: id, note: note ? `${id}-note` : undefined })}
      {note && (
        <div id={`${id}-note`} class={error ? 'note note-bad' : 'note'}>
          {note}
        </div>
      )}
    </div>
  );
}
