import { useSignal } from "@preact/signals";

import { useConsole } from "../../data/console-context.ts";
import { SelectField, TextField } from "../../parts/forms/field.tsx";
import { useNamespaces } from "./use-namespaces.ts";

export interface NamespaceFieldProps {
  /** Empty = the default namespace. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A choice of the namespaces that one may list; who may list none writes the name. */
export function NamespaceField({ value, onChange }: NamespaceFieldProps) {
  const { session } = useConsole();
  const namespaces = useNamespaces(session.may("Namespace:List"));
  const text = useSignal(value);
  const names = namespaces.state.value.value ?? [];
  if (names.length === 0) {
    return (
      <TextField
        label="Namespace"
        hint="Empty: the default one"
        value={text}
        onChange={(next) => onChange(next.trim())}
      />
    );
  }
  const known = value === "" || names.includes(value) ? names : [...names, value];
  return (
    <SelectField
      label="Namespace"
      value={value}
      choices={[["", "The default one"], ...known.map((name) => [name, name] as const)]}
      onChange={onChange}
    />
  );
}
