import { useComputed, type Signal } from "@preact/signals";
import type { ComponentChildren, Ref } from "preact";
import { useId } from "preact/hooks";

interface FieldWords {
  readonly label: string;
  /** What to write there, and what happens when it is empty. */
  readonly hint?: ComponentChildren;
  /** What is wrong with what stands there. */
  readonly problem?: string | undefined;
  /** The label is for screen readers only: what it is, the page shows otherwise. */
  readonly hideLabel?: boolean;
}

interface FieldProps extends FieldWords {
  readonly children: (ids: { readonly id: string; readonly described: string | undefined }) => ComponentChildren;
}

/** A control with its label, its hint and what is wrong with it. */
export function LabelledField({ label, hint, problem, hideLabel = false, children }: FieldProps) {
  const id = useId();
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problem === undefined ? [] : [`${id}-problem`]),
  ].join(" ");
  return (
    <div class="field">
      <label for={id} class={hideLabel ? "hidden" : "field-label"}>
        {label}
      </label>
      {children({ id, described: described === "" ? undefined : described })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} class="field-problem">
          {problem}
        </p>
      )}
    </div>
  );
}

export interface TextFieldProps extends FieldWords {
  readonly value: Signal<string>;
  readonly type?: "text" | "password" | "search" | "number" | "datetime-local";
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** More than one line. */
  readonly rows?: number;
  /** In a font whose characters are all as wide. */
  readonly mono?: boolean;
  readonly readOnly?: boolean;
  readonly onChange?: (value: string) => void;
  readonly inputRef?: Ref<HTMLInputElement>;
}

/** A field for text; with `rows` for several lines of it. */
export function TextField(props: TextFieldProps) {
  const { value, type = "text", rows, mono = false, problem, onChange } = props;
  const shared = {
    class: `input${mono ? " mono" : ""}`,
    value,
    placeholder: props.placeholder,
    autocomplete: props.autocomplete ?? "off",
    spellcheck: false,
    required: props.required ?? false,
    readOnly: props.readOnly ?? false,
    "aria-invalid": problem !== undefined,
  };
  // Preact types each kind of input apart; all of these are inputs of text.
  const kind = type as "text";
  const take = (next: string): void => {
    value.value = next;
    onChange?.(next);
  };
  return (
    <LabelledField label={props.label} hint={props.hint} problem={problem} hideLabel={props.hideLabel ?? false}>
      {({ id, described }) =>
        rows === undefined ? (
          <input
            {...shared}
            ref={props.inputRef ?? null}
            id={id}
            type={kind}
            min={props.min}
            max={props.max}
            aria-describedby={described}
            onInput={(event) => take(event.currentTarget.value)}
          />
        ) : (
          <textarea
            {...shared}
            id={id}
            dir="auto"
            rows={rows}
            aria-describedby={described}
            onInput={(event) => take(event.currentTarget.value)}
          />
        )
      }
    </LabelledField>
  );
}

export interface SelectFieldProps extends FieldWords {
  readonly value: string;
  /** Value and words. */
  readonly choices: readonly (readonly [value: string, words: string])[];
  readonly onChange: (value: string) => void;
}

/** A choice of several. */
export function SelectField(props: SelectFieldProps) {
  return (
    <LabelledField label={props.label} hint={props.hint} problem={props.problem} hideLabel={props.hideLabel ?? false}>
      {({ id, described }) => (
        <select
          id={id}
          class="input"
          value={props.value}
          aria-describedby={described}
          onChange={(event) => props.onChange(event.currentTarget.value)}
        >
          {props.choices.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </LabelledField>
  );
}

export interface CheckFieldProps {
  readonly label: ComponentChildren;
  readonly value: Signal<boolean>;
  readonly onChange?: (value: boolean) => void;
}

/** Something that is so or not. */
export function CheckField({ label, value, onChange }: CheckFieldProps) {
  const checked = useComputed(() => value.value);
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => {
          value.value = event.currentTarget.checked;
          onChange?.(event.currentTarget.checked);
        }}
      />
      <span>{label}</span>
    </label>
  );
}
