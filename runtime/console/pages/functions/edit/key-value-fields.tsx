import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";

import { Button } from "../../../parts/forms/button.tsx";

interface KeyValueRow {
  readonly id: number;
  readonly key: string;
  readonly value: string;
}

export interface KeyValueFieldsProps {
  /** What one of them is: `variable`. */
  readonly one: string;
  readonly label: string;
  readonly value: Readonly<Record<string, string>> | undefined;
  readonly keyHint?: string;
  readonly onChange: (value: Readonly<Record<string, string>>) => void;
}

/** Texts by name, a row each. A row without a name is not sent; of the same names the last one counts. */
export function KeyValueFields({ one, label, value, keyHint, onChange }: KeyValueFieldsProps) {
  const rows = useSignal<readonly KeyValueRow[]>(
    Object.entries(value ?? {}).map(([key, text], id) => ({ id, key, value: text })),
  );
  const next = useSignal(rows.peek().length);
  const id = useId();
  const change = (changed: readonly KeyValueRow[]): void => {
    rows.value = changed;
    onChange(Object.fromEntries(changed.filter(({ key }) => key !== "").map((row) => [row.key, row.value])));
  };
  const edit = (row: KeyValueRow, part: Partial<KeyValueRow>): void =>
    change(rows.peek().map((each) => (each.id === row.id ? { ...each, ...part } : each)));
  return (
    <fieldset class="key-values">
      <legend class="field-label">{label}</legend>
      {rows.value.map((row) => (
        <div key={row.id} class="key-value">
          <label class="hidden" for={`${id}-key-${row.id}`}>
            Name of the {one}
          </label>
          <input
            id={`${id}-key-${row.id}`}
            class="input mono"
            value={row.key}
            placeholder={keyHint ?? "name"}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => edit(row, { key: event.currentTarget.value })}
          />
          <label class="hidden" for={`${id}-value-${row.id}`}>
            Value of {row.key === "" ? `the ${one}` : row.key}
          </label>
          {/* Values may have several lines, which an input would join. */}
          <textarea
            id={`${id}-value-${row.id}`}
            class="input mono"
            rows={row.value.split("\n").length}
            value={row.value}
            placeholder="value"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => edit(row, { value: event.currentTarget.value })}
          />
          <Button
            look="quiet"
            label={`Remove ${row.key === "" ? `the ${one}` : row.key}`}
            onClick={() => change(rows.peek().filter((each) => each.id !== row.id))}
          >
            <span aria-hidden="true">✕</span>
          </Button>
        </div>
      ))}
      <Button look="quiet" onClick={() => change([...rows.peek(), { id: next.value++, key: "", value: "" }])}>
        Add {/^[aeiou]/.test(one) ? "an" : "a"} {one}
      </Button>
    </fieldset>
  );
}
