import { useSignal, useSignalEffect, type Signal } from "@preact/signals";

import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import type { SecretListItem } from "../../../../api/schemas/secret.ts";
import { CheckField, TextField } from "../../../parts/forms/field.tsx";
import { KeyValueFields } from "./key-value-fields.tsx";

/** Texts of a deployment that are left out when they are empty. */
type TextKey = "service" | "image" | "envProcess";

export interface DeploymentFieldsProps {
  readonly draft: Signal<FunctionDeployment>;
  /** A function's name stays what it is. */
  readonly isNew: boolean;
}

/** The fields of a deployment. */
export function DeploymentFields({ draft, isNew }: DeploymentFieldsProps) {
  const set = (part: Partial<FunctionDeployment>): void => void (draft.value = withPart(draft.peek(), part));
  return (
    <div class="stack">
      <div class="columns">
        {isNew && (
          <DraftText draft={draft} of="service" label="Name" hint="Letters a to z, digits and -; calls name it" />
        )}
        <DraftText
          draft={draft}
          of="image"
          label="Image"
          hint="Reference of a container image; without containers it only names the function's version"
        />
        <DraftText
          draft={draft}
          of="envProcess"
          label="Process"
          hint="What serves the calls: each one on standard input, its reply on standard output; empty = what the image says"
        />
      </div>
      <div class="columns">
        <KeyValueFields
          one="variable"
          label="Environment"
          keyHint="LEVEL"
          value={draft.peek().envVars}
          onChange={(envVars) => set({ envVars })}
        />
        <KeyValueFields
          one="label"
          label="Labels"
          keyHint="com.service.scale.max"
          value={draft.peek().labels}
          onChange={(labels) => set({ labels })}
        />
        <KeyValueFields
          one="annotation"
          label="Annotations"
          keyHint="com.service.retry.attempts"
          value={draft.peek().annotations}
          onChange={(annotations) => set({ annotations })}
        />
        <KeyValueFields
          one="limit"
          label="Limits"
          keyHint="memory"
          value={draft.peek().limits}
          onChange={(limits) => set({ limits })}
        />
        <KeyValueFields
          one="request"
          label="Requests"
          keyHint="cpu"
          value={draft.peek().requests}
          onChange={(requests) => set({ requests })}
        />
        <SecretChoice draft={draft} onChange={(secrets) => set({ secrets: [...secrets] })} />
      </div>
      <ReadOnlyChoice draft={draft} onChange={(readOnlyRootFilesystem) => set({ readOnlyRootFilesystem })} />
    </div>
  );
}

function DraftText({
  draft,
  of,
  label,
  hint,
}: {
  readonly draft: Signal<FunctionDeployment>;
  readonly of: TextKey;
  readonly label: string;
  readonly hint: string;
}) {
  const text = useSignal(draft.peek()[of] ?? "");
  useSignalEffect(() => {
    // Samples fill it in from outside.
    text.value = draft.value[of] ?? "";
  });
  return (
    <TextField
      label={label}
      hint={hint}
      value={text}
      mono
      required={of !== "envProcess"}
      onChange={(value) => void (draft.value = withPart(draft.peek(), { [of]: value }))}
    />
  );
}

function SecretChoice({
  draft,
  onChange,
}: {
  readonly draft: Signal<FunctionDeployment>;
  readonly onChange: (secrets: readonly string[]) => void;
}) {
  const { requests, session } = useConsole();
  const { namespace, secrets = [] } = draft.value;
  const listed = useLoaded(`secrets ${namespace ?? ""}`, async (signal) =>
    session.may("Secret:List")
      ? requests.get<readonly SecretListItem[]>("/system/secrets", {
          query: { namespace },
          signal,
          act: "read the secrets",
        })
      : [],
  );
  const names = new Set([...(listed.state.value.value ?? []).map(({ name }) => name), ...secrets]);
  return (
    <fieldset class="key-values">
      <legend class="field-label">Secrets</legend>
      {names.size === 0 && <p class="muted">There is no secret in this namespace</p>}
      {[...names].toSorted().map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={secrets.includes(name)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...secrets, name] : secrets.filter((each) => each !== name))
            }
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function ReadOnlyChoice({
  draft,
  onChange,
}: {
  readonly draft: Signal<FunctionDeployment>;
  readonly onChange: (value: boolean) => void;
}) {
  const value = useSignal(draft.peek().readOnlyRootFilesystem === true);
  return <CheckField label="It may write to /tmp only" value={value} onChange={onChange} />;
}

/** A deployment with other members; empty ones are left out, as they mean nothing. */
export function withPart(deployment: FunctionDeployment, part: Partial<FunctionDeployment>): FunctionDeployment {
  const { service, image, ...rest } = { ...deployment, ...part };
  const kept = Object.entries(rest).filter(([, value]) => !isEmptyValue(value));
  return { service, image, ...Object.fromEntries(kept) };
}

function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === "" || value === false) return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
